import { SYSTEM } from '../../src/access/principal';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { AutomaticRecoveriesService } from '../../src/webhooks/recoveries/automatic-recoveries.service';
import { Responder } from '../support/https-receiver';
import { contradictions } from '../support/integrity';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const CONVERSATIONS = 12;
const OF_EACH = 3;
/** Time that the receiver takes for each answer, so that a kill can come between. */
const ANSWER_MS = 150;
/** A killed worker's lease lasts 20 seconds. */
const STEP_MS = 60_000;
const RUN_MS = 420_000;
const MOST_SENDS = 3;

const ofRound = `FROM pending_deliveries p JOIN webhook_recoveries r ON r.id = p.recovery_id WHERE r.automatic = `;
/** Steps at which a worker is killed, each with a query that finds a row meanwhile. */
const STEPS = {
  miss: `SELECT FROM automatic_recoveries WHERE state = 'MISSING'`,
  probing: `SELECT FROM automatic_recoveries WHERE state = 'PROBING'`,
  probe: `SELECT ${ofRound} 'PROBE' AND p.lease_id IS NOT NULL`,
  failedProbe: `SELECT FROM automatic_recoveries WHERE state = 'PROBING' AND probes = 1 AND recovery_id IS NULL`,
  round: `SELECT FROM automatic_recoveries WHERE state = 'RECOVERING'`,
  made: `SELECT ${ofRound} 'ROUND'`,
  attempt: `SELECT ${ofRound} 'ROUND' AND p.lease_id IS NOT NULL`,
  outcome: `SELECT FROM recovery_outcomes`,
  counted: `SELECT FROM webhook_recoveries WHERE automatic = 'ROUND' AND succeeded > 0`,
};

const failing: Responder = (response) => response.writeHead(500).end();
const working: Responder = (response) => setTimeout(() => response.end('ok'), ANSWER_MS);

let host: MessagingHost;
let receiver: Receiver;
let tenant: WebhookWorkspace;
let endpoint: CreatedWebhookEndpoint;

beforeAll(async () => {
  host = await MessagingHost.create();
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(host);
  endpoint = await tenant.addEndpoint(receiver.url(), { automaticRecovery: true });
});
afterAll(() => receiver.stop());

/** Starts a worker, and kills it when it has reached a step. */
async function killAt(step: keyof typeof STEPS, onStart?: () => Promise<unknown>): Promise<void> {
  const worker = await ServiceProcess.start('worker', host.stores);
  await onStart?.();
  await waitFor(`the step ${step}`, async () => (await host.query(STEPS[step])).length > 0, STEP_MS);
  worker.kill('SIGKILL');
  await worker.exited;
}

const makeDue = () => host.query('UPDATE automatic_recoveries SET due_at = now() WHERE due_at IS NOT NULL');

function sends(body: string): number {
  return receiver.received().filter(({ envelope }) => envelope.data.message.body === body).length;
}

it(
  'loses no event to workers that are killed at every step, and sends none a fourth time',
  async () => {
    receiver.https.respond = failing;
    const bodies: string[] = [];
    const conversations: ConversationDetail[] = [];
    for (let n = 0; n < CONVERSATIONS; n++)
      conversations.push(await host.make.conversation(tenant.workspace));
    for (let n = 0; n < OF_EACH; n++)
      for (const [at, conversation] of conversations.entries()) {
        bodies.push(`${at} ${n}`);
        await host.make.received(tenant.workspace, conversation, bodies.at(-1));
      }

    await killAt('miss', () => tenant.waitForStatus(endpoint, 'pending', bodies.length).then(lastAttempts));
    const between = await ServiceProcess.start('worker', host.stores);
    await waitFor(
      'all deliveries to be given up',
      async () => {
        await host.query('UPDATE pending_deliveries SET attempt_count = 5 WHERE NOT automatic');
        return (await tenant.list({ endpointId: endpoint.id, status: 'exhausted' })).length === bodies.length;
      },
      STEP_MS,
    );
    between.kill('SIGKILL');
    await between.exited;
    await killAt('probing');
    const before = new Map(bodies.map((body) => [body, sends(body)]));

    // The receiver gives no answer, so that the probe is under way when its worker is killed.
    receiver.https.respond = () => undefined;
    await makeDue();
    await killAt('probe');
    receiver.https.respond = failing;
    await killAt('failedProbe');

    receiver.https.respond = working;
    await makeDue();
    for (const step of ['round', 'made', 'attempt', 'outcome', 'counted'] as const) await killAt(step);

    const last = await ServiceProcess.start('worker', host.stores);
    const automatic = host.app.get(AutomaticRecoveriesService, { strict: false });
    await waitFor(
      'a healthy endpoint',
      async () => {
        // Each success of a live delivery ends the probing between two rounds.
        await tenant.message('live');
        return (await automatic.get(tenant.id, endpoint.id, SYSTEM)) === null;
      },
      3 * STEP_MS,
    );
    last.kill('SIGTERM');
    await last.exited;

    expect(await tenant.list({ endpointId: endpoint.id, status: 'exhausted' })).toEqual([]);
    const delivered = (await tenant.list({ endpointId: endpoint.id, status: 'succeeded' })).length;
    expect(delivered).toBeGreaterThanOrEqual(bodies.length);
    // The oldest event is also sent by the probes.
    const [, ...others] = bodies;
    for (const body of others) {
      const sent = sends(body) - before.get(body)!;
      expect({ body, sent }).toEqual({ body, sent: Math.min(Math.max(sent, 1), MOST_SENDS) });
    }
    // The live deliveries were made to have one attempt instead of six.
    const found = await contradictions((sql, parameters) => host.query(sql, parameters));
    expect(found.filter((one) => !one.startsWith('finished round that misses attempts'))).toEqual([]);
  },
  RUN_MS,
);

/** Makes the next attempt of each delivery its last one. */
async function lastAttempts(): Promise<void> {
  await waitFor('the first attempts', () => receiver.received().length >= CONVERSATIONS * OF_EACH);
  await host.query(`UPDATE pending_deliveries SET attempt_count = 5, next_attempt_at = now()`);
}
