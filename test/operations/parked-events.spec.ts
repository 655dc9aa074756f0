import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { DELIVERY_ERROR_CODES } from '../../src/common/message-status';
import { ParkedEventsService } from '../../src/operations/parked-events/parked-events.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Chat, ConnectedWorkspace, deliveryOf, waitForStatus } from '../support/connected-workspace';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

describe('parked events', () => {
  let telegram: TelegramSimulator;
  let receiver: Receiver;
  let api: TestService;
  let worker: TestService;
  let host: MessagingHost;
  let workspace: ConnectedWorkspace;
  let chat: Chat;
  let path: string;

  beforeAll(async () => {
    [telegram, receiver] = await Promise.all([new TelegramSimulator().start(), Receiver.start()]);
    const env = telegram.environment;
    api = await TestService.create({ role: 'api', env });
    worker = await TestService.create({ role: 'worker', beside: api, env });
    host = await MessagingHost.create({ beside: api });
  });
  beforeEach(async () => {
    [workspace, chat, path] = await connected();
  });

  const parkedEvents = () => host.get(ParkedEventsService);
  const requested = (of = chat) => telegram.textsTo(of.customerId);
  const delivered = (at = path) => receiver.received(at).map(({ envelope }) => envelope.data.message.body);

  async function connected(): Promise<[ConnectedWorkspace, Chat, string]> {
    const made = await ConnectedWorkspace.telegram(api);
    const hook = `/${made.workspace.id}`;
    const endpoint = { url: receiver.url(hook), events: ['message.created' as const] };
    await worker.app
      .get(WebhookEndpointsService, { strict: false })
      .create(made.workspace.id, endpoint, SYSTEM);
    return [made, await made.chat(), hook];
  }

  /** Puts an event into the outbox that no service makes: its message's id is no UUID. */
  async function insertPoisoned(): Promise<string> {
    const id = newId();
    const message = { id: 'no UUID', senderType: 'AGENT', body: 'poisoned' };
    const data = JSON.stringify({ conversationId: chat.conversation.id, message });
    await api.query(
      `WITH event AS (
         INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
         VALUES ($1, $2, 'message.created', $3, 1, now())
       ) INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)`,
      [workspace.workspace.id, id, data],
    );
    return id;
  }

  function waitForParked({ id } = workspace.workspace) {
    return waitFor('a parked event', async () => (await parkedEvents().list(id, SYSTEM))[0]);
  }

  async function waitForNoneParked(): Promise<void> {
    await waitFor(
      'no parked event',
      async () => (await parkedEvents().list(workspace.workspace.id, SYSTEM)).length === 0,
    );
  }

  /** Makes the database refuse a reply that waits for no other, a fault that only an operator can mend. */
  async function refuseReplies(): Promise<void> {
    await api.query(
      `CREATE OR REPLACE FUNCTION refuse_reply() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE data_exception USING MESSAGE = 'refused by a trigger'; END $$`,
    );
    await api.query(
      `CREATE TRIGGER refuses BEFORE INSERT ON outbound_messages FOR EACH ROW
       WHEN (NEW.conversation_id = '${chat.conversation.id}' AND NOT NEW.waits) EXECUTE FUNCTION refuse_reply()`,
    );
  }

  const mend = () => api.query('DROP TRIGGER IF EXISTS refuses ON outbound_messages');

  it('stop neither the events beside them nor their other consumers', async () => {
    const [, otherChat, otherPath] = await connected();
    const before = [await chat.send('before'), await otherChat.send('elsewhere before')];
    const eventId = await insertPoisoned();
    const after = [await chat.send('after'), await otherChat.send('elsewhere after')];

    for (const message of [...before, ...after]) await waitForStatus(api, message, 'SENT');
    expect(requested()).toEqual(['before', 'after']);
    expect(requested(otherChat)).toEqual(['elsewhere before', 'elsewhere after']);
    const parked = await waitForParked();
    expect(parked).toEqual({
      tenantId: workspace.workspace.id,
      eventId,
      consumer: 'channels',
      error: expect.stringContaining('invalid input syntax for type uuid'),
      queuedAt: expect.any(Date),
      parkedAt: expect.any(Date),
      request: null,
    });
    expect(await parkedEvents().list(undefined, SYSTEM)).toEqual(expect.arrayContaining([parked]));
    await receiver.waitForCount(3, path);
    await receiver.waitForCount(2, otherPath);
    expect(delivered().sort()).toEqual(['after', 'before', 'poisoned']);
  });

  it('are parked again when a retry fails, with the error of that one', async () => {
    const eventId = await insertPoisoned();
    const { parkedAt, ...key } = await waitForParked();
    await api.query(
      `UPDATE events SET data = replace(data::text, 'no UUID', 'still none')::json WHERE id = $1`,
      [eventId],
    );
    await parkedEvents().retry(key);
    const again = await waitFor('the failed retry', async () => {
      const [parked] = await parkedEvents().list(workspace.workspace.id, SYSTEM);
      return parked?.request === null && parked.error.includes('still none') && parked;
    });
    expect(again.parkedAt).toEqual(parkedAt);
    await parkedEvents().giveUp(key);
    await waitForNoneParked();
  });

  it('refuse a request for what is not parked', async () => {
    const key = { tenantId: workspace.workspace.id, eventId: newId(), consumer: 'channels' };
    for (const unknown of [key, { ...key, eventId: 'nope' }, { ...key, tenantId: 'nope' }]) {
      await expect(parkedEvents().retry(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(parkedEvents().giveUp(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await parkedEvents().list('nope', SYSTEM)).toEqual([]);
  });

  describe('of a reply', () => {
    beforeEach(refuseReplies);
    afterEach(mend);

    it('hold up its conversation until a retry, which no other consumer sees', async () => {
      const [refused, next] = [await chat.send('refused for now'), await chat.send('next')];
      const elsewhere = await workspace.chat();
      await waitForStatus(api, await elsewhere.send('elsewhere'), 'SENT');
      const { error, ...key } = await waitForParked();
      expect(error).toBe('refused by a trigger');
      await waitFor('the next one to be routed', async () => {
        const rows = await api.query('SELECT waits FROM outbound_messages WHERE message_id = $1', [next.id]);
        return rows.length === 1;
      });
      expect(await deliveryOf(api, refused)).toEqual({ status: 'QUEUED', error: null });
      expect(requested()).toEqual([]);

      await mend();
      await parkedEvents().retry(key);
      await waitForStatus(api, next, 'SENT');
      expect(await deliveryOf(api, refused)).toEqual({ status: 'SENT', error: null });
      expect(requested()).toEqual(['refused for now', 'next']);
      await waitForNoneParked();
      expect(delivered().sort()).toEqual(['elsewhere', 'next', 'refused for now']);
    });

    it('are given up: it fails, and its conversation goes on', async () => {
      const [refused, next] = [await chat.send('refused for good'), await chat.send('next')];
      const key = await waitForParked();
      await waitFor('the next one to be routed', async () => {
        const rows = await api.query('SELECT FROM outbound_messages WHERE message_id = $1', [next.id]);
        return rows.length === 1;
      });
      await parkedEvents().giveUp(key);

      await waitForStatus(api, next, 'SENT');
      expect(await deliveryOf(api, refused)).toEqual({
        status: 'FAILED',
        error: { code: 'GIVEN_UP', providerCode: null, message: DELIVERY_ERROR_CODES.GIVEN_UP },
      });
      expect(requested()).toEqual(['next']);
      await waitForNoneParked();
    });
  });

  it('are worked on, though fifty before them can not be', async () => {
    const { id: tenantId } = workspace.workspace;
    const other = await api.make.workspace();
    const requestFor = (id: string, count: number) =>
      api.query(
        `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at, request)
         SELECT $1, gen_random_uuid(), 'channels', 'x', now(), 'GIVE_UP' FROM generate_series(1, $2)`,
        [id, count],
      );
    await api.query(
      `CREATE FUNCTION keep_locked() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE lock_not_available USING MESSAGE = 'as if locked'; END $$`,
    );
    await api.query(
      `CREATE TRIGGER keeps BEFORE DELETE ON parked_events FOR EACH ROW
       WHEN (OLD.tenant_id = '${tenantId}') EXECUTE FUNCTION keep_locked()`,
    );
    await requestFor(tenantId, 50);
    await requestFor(other.id, 1);

    await waitFor('the last one', async () => (await parkedEvents().list(other.id, SYSTEM)).length === 0);
    expect(await parkedEvents().list(tenantId, SYSTEM)).toHaveLength(50);
    await api.query('DROP TRIGGER keeps ON parked_events');
    await waitForNoneParked();
  }, 30_000);

  it('are never those that met a fault of the world', async () => {
    const other = new Client({ connectionString: api.stores.databaseUrl });
    await other.connect();
    const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    /**
     * Returns a search for a statement that waits for the other transaction's lock and began after a moment.
     */
    const waitingSince = (since: Date) => async () => {
      // The search uses another connection: within a transaction this view does not change.
      const [waiting] = await api.query<{ pid: number; at: Date }>(
        `SELECT pid, query_start AS at FROM pg_stat_activity
         WHERE $1::integer = ANY (pg_blocking_pids(pid)) AND query_start > $2`,
        [rows[0]!.pid, since],
      );
      return waiting;
    };
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE outbound_messages IN SHARE ROW EXCLUSIVE MODE');
      const message = await chat.send('patience');
      const first = await waitFor('the relay to wait', waitingSince(new Date(0)));
      await api.query('SELECT pg_terminate_backend($1::integer)', [first.pid]);
      // The statement's connection was cut; the next one meets its statement timeout.
      const second = await waitFor('the relay to wait again', waitingSince(new Date(first.at.getTime() + 1)));
      await waitFor('the relay to wait once more', waitingSince(new Date(second.at.getTime() + 1)));
      await other.query('COMMIT');

      await waitForStatus(api, message, 'SENT');
      expect(await parkedEvents().list(workspace.workspace.id, SYSTEM)).toEqual([]);
      expect(requested()).toEqual(['patience']);
    } finally {
      await other.end();
    }
  }, 30_000);
});
