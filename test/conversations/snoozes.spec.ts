import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { ReadMarksService } from '../../src/inbox/read-marks/read-marks.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { eventsOf } from '../support/events';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

const MANY = 100_000;
/** Number of conversations of a workspace that fail: more than a worker keeps in mind of one. */
const FAILING = 1_200;
/** Number of rows that one statement adds. */
const BATCH = 10_000;

interface Snoozed {
  workspace: { id: string };
  conversation: { id: string };
}

describe('conversations whose snooze has ended', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    await TestService.create({ role: 'worker', beside: service });
  });

  /** Lets the snoozes of conversations end now, as if their time had come. */
  const end = (ids: string[]) =>
    service.query(
      `UPDATE conversations SET snoozed_until = date_trunc('milliseconds', now()) WHERE id = ANY ($1)`,
      [ids],
    );

  async function snooze(workspace: { id: string }, minutes = 60): Promise<Snoozed> {
    const conversation = await service.make.conversation(workspace);
    const snoozedUntil = new Date(Date.now() + minutes * 60_000);
    await service.make.updateConversation(workspace, conversation, { status: 'SNOOZED', snoozedUntil });
    return { workspace, conversation };
  }

  /**
   * Adds conversations of one contact whose snoozes have ended: half of them at the same moment, and half one
   * after the other.
   */
  async function addEnded(workspace: { id: string }, count: number): Promise<void> {
    const { id: contactId } = await service.make.contact(workspace);
    const last = new Date();
    for (let first = 0; first < count; first += BATCH)
      await service.query(
        `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, snoozed_until, created_at, updated_at)
         SELECT $1, gen_random_uuid(), $2, 'WIDGET', 'SNOOZED',
           $5::timestamptz - i % 2 * i * interval '1 millisecond', now(), now()
         FROM generate_series($3::integer, $4::integer) i`,
        [workspace.id, contactId, first, Math.min(count, first + BATCH) - 1, last],
      );
  }

  const rowOf = async ({ conversation: { id } }: Snoozed) => {
    const [row] = await service.query<{ status: string; snoozedUntil: Date | null }>(
      'SELECT status, snoozed_until AS "snoozedUntil" FROM conversations WHERE id = $1',
      [id],
    );
    return row!;
  };
  const isOpen = async (snoozed: Snoozed) => (await rowOf(snoozed)).status === 'OPEN';
  const updatesOf = async ({ workspace, conversation }: Snoozed) =>
    (await eventsOf(service, workspace, 'conversation.updated')).filter(
      ({ conversationId }) => conversationId === conversation.id,
    );

  it('open by themselves, with an event and an audit entry of the system', async () => {
    const workspace = await service.make.workspace();
    const snoozed = await snooze(workspace);
    const conversationId = snoozed.conversation.id;
    const later = await snooze(workspace);
    await service.query(
      `UPDATE conversations SET snoozed_until = date_trunc('milliseconds', now()) + interval '1 second' WHERE id = $1`,
      [conversationId],
    );
    const { snoozedUntil } = await rowOf(snoozed);

    await waitFor('the end of the snooze', () => isOpen(snoozed));

    expect(await rowOf(snoozed)).toEqual({ status: 'OPEN', snoozedUntil: null });
    expect(await updatesOf(snoozed)).toEqual([
      { conversationId, status: 'SNOOZED' },
      { conversationId, status: 'OPEN' },
    ]);
    const entries = await service.query(
      'SELECT actor_type, action, before, after FROM audit_entries WHERE entity_id = $1 ORDER BY id DESC LIMIT 1',
      [conversationId],
    );
    expect(entries).toEqual([
      {
        actor_type: 'system',
        action: 'conversation.reopened',
        before: { status: 'SNOOZED', snoozedUntil: snoozedUntil!.toISOString() },
        after: { status: 'OPEN', snoozedUntil: null },
      },
    ]);
    expect(await isOpen(later)).toBe(false);
  });

  it('are unread for their agent, unless the agent has opened them', async () => {
    const workspace = await service.make.workspace();
    const [lin, ada] = [await service.make.agent(workspace), await service.make.agent(workspace)];
    const actorOf = ({ id }: { id: string }) => ({ type: 'agent' as const, id });
    const snoozed = await Promise.all([1, 2, 3].map(() => snooze(workspace)));
    const [hers, reopened, nobodys] = snoozed;
    for (const { conversation } of [hers!, reopened!])
      await service.make.updateConversation(
        workspace,
        conversation,
        { assignedAgentId: lin.id },
        actorOf(lin),
      );
    await service.make.updateConversation(
      workspace,
      reopened!.conversation,
      { status: 'OPEN' },
      actorOf(lin),
    );
    const ids = snoozed.map(({ conversation: { id } }) => id);
    const unreadOf = (agent: { id: string }) =>
      service.app.get(ReadMarksService, { strict: false }).listUnread(workspace.id, ids, actorOf(agent));
    expect(await unreadOf(lin)).toEqual([]);

    await end([hers!, nobodys!].map(({ conversation: { id } }) => id));
    await waitFor('all of them', async () => (await Promise.all(snoozed.map(isOpen))).every(Boolean));
    expect(await unreadOf(lin)).toEqual([hers!.conversation.id]);
    expect(await unreadOf(ada)).toEqual([]);
  });

  it('open once, however many workers there are', async () => {
    const workspaces = await Promise.all([service.make.workspace(), service.make.workspace()]);
    const snoozed = await Promise.all(Array.from({ length: 40 }, (_, n) => snooze(workspaces[n % 2]!)));
    await end(snoozed.map(({ conversation: { id } }) => id));

    await waitFor('all of them', async () => (await Promise.all(snoozed.map(isOpen))).every(Boolean));

    for (const one of snoozed)
      expect((await updatesOf(one)).map(({ status }) => status)).toEqual(['SNOOZED', 'OPEN']);
  });

  it('stay open when the customer has written, and as a person has left them', async () => {
    const workspace = await service.make.workspace();
    const [answered, closed, endless] = await Promise.all([1, 2, 3].map(() => snooze(workspace)));
    await service.make.received(workspace, answered!.conversation);
    await service.make.updateConversation(workspace, closed!.conversation, { status: 'CLOSED' });
    await service.make.updateConversation(workspace, endless!.conversation, { snoozedUntil: null });
    const last = await snooze(workspace);
    await end([last.conversation.id]);
    await waitFor('a later one', () => isOpen(last));
    expect((await updatesOf(answered!)).map(({ status }) => status)).toEqual(['SNOOZED', 'OPEN']);
    expect(await rowOf(closed!)).toEqual({ status: 'CLOSED', snoozedUntil: null });
    expect(await rowOf(endless!)).toEqual({ status: 'SNOOZED', snoozedUntil: null });
  });

  it('open in a suspended workspace, too', async () => {
    const workspace = await service.make.workspace();
    const snoozed = await snooze(workspace);
    await service.app.get(WorkspacesService).suspend(workspace.id, SYSTEM);
    await end([snoozed.conversation.id]);
    await waitFor('the end of the snooze', () => isOpen(snoozed));
  });

  it('do not wait for one that fails, nor for one that is locked', async () => {
    const workspace = await service.make.workspace();
    const [failing, locked, good] = [
      await snooze(workspace),
      await snooze(workspace),
      await snooze(workspace),
    ];
    await service.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'Refused'; END $$`,
    );
    await service.query(
      `CREATE TRIGGER refuses BEFORE UPDATE ON conversations FOR EACH ROW
       WHEN (NEW.status = 'OPEN' AND NEW.id = '${failing.conversation.id}') EXECUTE FUNCTION refuse()`,
    );
    await service.query(
      `UPDATE conversations SET snoozed_until = now() + interval '2 seconds' WHERE id = ANY ($1)`,
      [[failing, locked, good].map(({ conversation: { id } }) => id)],
    );
    await service.app.get(Database).transaction(async (tx) => {
      await tx.query('SELECT FROM conversations WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
        workspace.id,
        locked.conversation.id,
      ]);
      await waitFor('the good one', () => isOpen(good));
    });
    await waitFor('the one that was locked', () => isOpen(locked));
    expect(await isOpen(failing)).toBe(false);
    await service.query('DROP TRIGGER refuses ON conversations');
    await waitFor('the one that failed', () => isOpen(failing), 60_000);
    expect((await updatesOf(failing)).map(({ status }) => status)).toEqual(['SNOOZED', 'OPEN']);
  });

  // The last test: nothing takes the rest of its conversations away from the workers.
  it('do not wait for many that always fail, of their own workspace or of another', async () => {
    const [faulty, sound] = [await service.make.workspace(), await service.make.workspace()];
    const [good, foreign] = [await snooze(faulty), await snooze(sound)];
    await service.query(
      `CREATE TRIGGER refuses BEFORE UPDATE ON conversations FOR EACH ROW
       WHEN (NEW.status = 'OPEN' AND NEW.tenant_id = '${faulty.id}' AND NEW.id <> '${good.conversation.id}')
       EXECUTE FUNCTION refuse()`,
    );
    await addEnded(faulty, FAILING);
    await end([good, foreign].map(({ conversation: { id } }) => id));
    await waitFor('the one of another workspace', () => isOpen(foreign));
    await waitFor('the good one', () => isOpen(good), 60_000);
    await service.query('DROP TRIGGER refuses ON conversations');
    await service.query('DELETE FROM conversations WHERE tenant_id = $1 AND id <> $2', [
      faulty.id,
      good.conversation.id,
    ]);
  }, 120_000);

  it("do not wait for another workspace's hundred thousand", async () => {
    const [busy, workspace] = [await service.make.workspace(), await service.make.workspace()];
    const snoozed = await snooze(workspace);
    await addEnded(busy, MANY);
    const left = async (): Promise<number> => {
      const [row] = await service.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM conversations WHERE tenant_id = $1 AND status = 'SNOOZED'`,
        [busy.id],
      );
      return row!.count;
    };
    await end([snoozed.conversation.id]);
    await waitFor('the one', () => isOpen(snoozed));
    expect(await left()).toBeGreaterThan(MANY / 2);
  });
});
