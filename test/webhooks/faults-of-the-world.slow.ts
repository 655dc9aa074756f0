import { Client } from 'pg';
import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { OutboxRelay } from '../../src/outbox/outbox-relay';
import { ParkedEventsService } from '../../src/operations/parked-events/parked-events.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Chat, ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { FailingConnections, failConnections } from '../support/failing-sockets';
import { MessagingHost } from '../support/messaging-host';
import { PostgresProxy } from '../support/postgres-proxy';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { endEventLeases } from '../support/stored-deliveries';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

/** Number of failing turns after which the relay is down to one event, and one more. */
const TURNS_UNTIL_ALONE = 8;

type Message = Awaited<ReturnType<Chat['send']>>;

describe('a fault of the world', () => {
  let telegram: TelegramSimulator;
  let receiver: Receiver;
  let api: TestService;
  let worker: TestService;
  let host: MessagingHost;
  let proxy: PostgresProxy;
  let workspace: ConnectedWorkspace;
  let chat: Chat;
  let path: string;
  let connections: FailingConnections | null = null;

  beforeAll(async () => {
    [telegram, receiver] = await Promise.all([new TelegramSimulator().start(), Receiver.start()]);
    const env = telegram.environment;
    api = await TestService.create({ role: 'api', env });
    proxy = await PostgresProxy.start(api.stores.databaseUrl);
    worker = await TestService.create({
      role: 'worker',
      beside: api,
      env: { ...env, DATABASE_URL: proxy.address },
    });
    host = await MessagingHost.create({ beside: api });
  });
  beforeEach(async () => {
    workspace = await ConnectedWorkspace.telegram(api);
    path = `/${workspace.workspace.id}`;
    const endpoint = { url: receiver.url(path), events: ['message.created' as const] };
    await host.get(WebhookEndpointsService).create(workspace.workspace.id, endpoint, SYSTEM);
    chat = await workspace.chat();
  });
  afterEach(() => {
    connections?.mend();
    connections = null;
    proxy.mend();
  });

  const parked = () => host.get(ParkedEventsService).list(workspace.workspace.id, SYSTEM);

  async function expectAllSent(message: Message): Promise<void> {
    await waitForStatus(api, message, 'SENT');
    await receiver.waitForCount(1, path);
    expect(await parked()).toEqual([]);
    expect(telegram.sendsTo(Number(chat.customerId))).toHaveLength(1);
    expect(receiver.received(path)).toHaveLength(1);
  }

  it.each(['ENETUNREACH', 'EMFILE', 'EADDRNOTAVAIL', 'CERT_HAS_EXPIRED'])(
    'parks no event: connections fail with %s until the relay would park',
    async (code) => {
      connections = failConnections(worker.app.get(Database).pool, code, { times: TURNS_UNTIL_ALONE });
      await expectAllSent(await chat.send('patience'));
    },
    30_000,
  );

  it.each(['28P01', '28000', '3D000', '42501', '53300', '57P03'])(
    'parks no event: connections are answered with %s',
    async (code) => {
      proxy.refuseConnections(code);
      const message = await chat.send('patience');
      await waitFor('the relay to be refused', () => proxy.refused >= TURNS_UNTIL_ALONE);
      proxy.mend();
      await expectAllSent(message);
    },
  );

  it.each(['42501', '53200', '57014'])(
    'parks no event: the claim of events is answered with %s',
    async (code) => {
      proxy.failStatements(code, / c\.queued_at AS /);
      const message = await chat.send('patience');
      await waitFor('two failing turns', () => proxy.failed >= 2);
      proxy.mend();
      await expectAllSent(message);
    },
  );

  it('leaves the claims of deliveries for later, and counts no attempt', async () => {
    proxy.failStatements('28P01', /UPDATE pending_deliveries|UPDATE outbound_messages/);
    const message = await chat.send('patience');
    await waitFor('two failing claims', () => proxy.failed >= 2);
    proxy.mend();
    await expectAllSent(message);
  });

  it.each(['ENETUNREACH', 'EMFILE', 'CERT_HAS_EXPIRED'])(
    'makes no accepted reply UNKNOWN: connections fail with %s when the answer comes',
    async (code) => {
      telegram.troubleNext({ kind: 'slow', ms: 500 });
      const message = await chat.send('accepted');
      await waitFor('the call', () => telegram.sendsTo(Number(chat.customerId)).length > 0);
      connections = failConnections(worker.app.get(Database).pool, code);
      // The record and the polls fail for three seconds.
      await waitFor('the record to fail', () => connections!.count > 10);
      connections.mend();
      await expectAllSent(message);
    },
  );

  it('gives up no retry of a parked event', async () => {
    const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE data_exception USING MESSAGE = 'refused by a trigger'; END $$`;
    await api.query(refuse);
    await api.query(
      'CREATE TRIGGER refuses BEFORE INSERT ON outbound_messages FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const message = await chat.send('refused for now');
    const event = await waitFor('the parked event', async () => (await parked())[0]);
    await api.query('DROP TRIGGER refuses ON outbound_messages');
    await api.query('DROP FUNCTION refuse');
    // Every second connection fails, so that the request is found and its transaction can't begin.
    connections = failConnections(worker.app.get(Database).pool, 'ENETUNREACH', { every: 2 });
    await host.get(ParkedEventsService).retry(event);
    await waitFor('failing connections', () => connections!.count > 10);
    connections.mend();
    await expectAllSent(message);
  });

  it.each([TURNS_UNTIL_ALONE - 1, TURNS_UNTIL_ALONE])(
    'that another worker has the event now parks no other one: after %s failing turns',
    async (turns) => {
      const locker = new Client({ connectionString: api.stores.databaseUrl });
      await locker.connect();
      const other = await workspace.chat();
      let sent!: (message: Message) => void;
      const healthy = new Promise<Message>((resolve) => (sent = resolve));
      /** Gives the poisoned event to another worker before the turn gives it back. */
      const handOver = async (tenantId: string, eventId: string) => {
        sent(await other.send('healthy'));
        await locker.query('BEGIN');
        const lock = 'SELECT FROM event_queue WHERE tenant_id = $1 AND event_id = $2 FOR UPDATE';
        await locker.query(lock, [tenantId, eventId]);
      };
      let tries = 0;
      worker.app.get(OutboxRelay).register({
        name: `refuses ${turns}`,
        prepareConsumer: () =>
          Promise.resolve(async (_, events) => {
            const poison = events.find(({ data }) => data.includes(`poison ${turns}`));
            if (!poison) return {};
            if (++tries === turns) await handOver(poison.tenantId, poison.id);
            throw new TypeError('x is undefined');
          }),
      });
      try {
        await chat.send(`poison ${turns}`);
        await waitForStatus(api, await healthy, 'SENT');
        await locker.query('ROLLBACK');
        await endEventLeases(api, workspace.workspace);
        const found = await waitFor('the parked event', async () => (await parked())[0]);
        expect(found).toMatchObject({ consumer: `refuses ${turns}`, error: 'x is undefined' });
        expect(await parked()).toHaveLength(1);
      } finally {
        await locker.end();
      }
    },
  );
});
