import { DatabaseClock } from '../../src/database/database-clock';
import { OutboxRelay } from '../../src/outbox/outbox-relay';
import { RelayTurn } from '../../src/outbox/relay-turn';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

/** Events of a workspace that no single turn can take. */
const BACKLOG = 150;

afterEach(() => jest.restoreAllMocks());

it('lets a workspace with a backlog share no turn with others, once the backlog is known', async () => {
  const host = await MessagingHost.create();
  const [large, ...small] = await Promise.all(Array.from({ length: 4 }, () => WebhookWorkspace.create(host)));
  for (let n = 0; n < BACKLOG; n++) await large!.message();

  const run = Object.getOwnPropertyDescriptor(RelayTurn.prototype, 'relayEvents')!
    .value as RelayTurn['relayEvents'];
  let rests = false;
  let hasRested = false;
  const woken = jest.spyOn(OutboxRelay.prototype, 'wake');
  const turns = jest.spyOn(RelayTurn.prototype, 'relayEvents').mockImplementation(async function (
    this: RelayTurn,
    ...given
  ) {
    const results = await run.apply(this, given);
    if (hasRested || !results.some(({ tenantId, isFull }) => tenantId === large!.id && isFull))
      return results;
    // The relay rests until the others have events too.
    jest.spyOn(DatabaseClock.prototype, 'isTrusted', 'get').mockImplementation(() => !rests);
    rests = hasRested = true;
    return results;
  });
  const worker = await TestService.create({ role: 'worker', beside: host });
  try {
    await waitFor('the first turn', () => rests);
    for (const one of small) await one.message();
    const wokenIds = () => woken.mock.calls.flatMap(([tenantIds]) => [...tenantIds]);
    await waitFor('the others to be ready', () => small.every(({ id }) => wokenIds().includes(id)));
    const before = turns.mock.calls.length;
    rests = false;
    await waitFor('an empty queue', async () => (await host.query('SELECT FROM event_queue')).length === 0);

    const plans = turns.mock.calls.slice(before).map(([, { tenantIds }]) => tenantIds);
    // A late signal may give the workspace one more turn, which finds nothing.
    expect(plans.find((tenantIds) => tenantIds.includes(large!.id))).toEqual([large!.id]);
  } finally {
    await worker.close();
    await host.close();
  }
});
