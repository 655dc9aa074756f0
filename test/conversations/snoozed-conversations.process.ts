import { killWorkers } from '../support/killed-workers';
import { MessagingHost } from '../support/messaging-host';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';

/** Number of conversations whose opening takes a worker seconds. */
const MANY = 3_000;
const OPENED_MS = 60_000;

describe('snoozed conversations whose time has come', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  const start = () => ServiceProcess.start('worker', host.stores);

  const opened = async (): Promise<number> => {
    const [row] = await host.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM conversations WHERE status = 'OPEN' AND snoozed_until IS NULL`,
    );
    return row!.count;
  };

  it('are opened once each, while workers are killed and others go on', async () => {
    const workspace = await host.make.workspace();
    const { id: contactId } = await host.make.contact(workspace);
    await host.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, snoozed_until, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'WIDGET', 'SNOOZED', now() - i % 7 * interval '1 second', now(), now()
       FROM generate_series(1, $3::integer) i`,
      [workspace.id, contactId, MANY],
    );

    await killWorkers(host.stores, {
      count: opened,
      kills: [100, 400],
      all: MANY,
      withinMs: OPENED_MS,
    });
    await Promise.all([start(), start()]);
    await waitFor('all of them', async () => (await opened()) === MANY, OPENED_MS);

    const [counts] = await host.query(
      `SELECT count(*)::integer AS events, count(DISTINCT data->>'conversationId')::integer AS conversations,
              (SELECT count(*)::integer FROM audit_entries WHERE action = 'conversation.reopened') AS entries
       FROM events WHERE type = 'conversation.updated' AND data->>'status' = 'OPEN'`,
    );
    expect(counts).toEqual({ events: MANY, conversations: MANY, entries: MANY });
  }, 240_000);
});
