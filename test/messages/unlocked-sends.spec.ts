import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { Actor, SYSTEM } from '../../src/access/principal';
import { idFloor, newId } from '../../src/common/ids';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { Database } from '../../src/database/database';
import { StatementGroup } from '../../src/database/driver/statement-group';
import { IdempotentRequest } from '../../src/idempotency/idempotent-request';
import { MessagesService } from '../../src/messages/messages.service';
import { MAX_ID_AGE_MS, UnlockedSendsRepository } from '../../src/messages/unlocked-sends.repository';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { expectRefusal } from '../support/errors';
import { waitForLockWait } from '../support/lock-waits';
import { MessagingHost } from '../support/messaging-host';
import { isOnCitus } from '../support/test-database';

const KEY: Actor = { type: 'api_key', id: newId() };
const AT_ONCE = 20;
const HOUR_MS = 3_600_000;

describe('a message that an API key sends', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let owner: { id: string };
  let conversation: ConversationDetail;

  beforeAll(async () => {
    host = await MessagingHost.create();
    workspace = await host.make.workspace();
    owner = await host.make.agent(workspace);
  });
  beforeEach(async () => {
    conversation = await host.make.conversation(workspace);
  });

  const send = (body = 'On its way.', senderAgentId?: string) =>
    host
      .get(MessagesService)
      .send(workspace.id, conversation.id, { body, ...(senderAgentId && { senderAgentId }) }, KEY);
  const change = (input: object) =>
    host.get(ConversationsService).update(workspace.id, conversation.id, input, SYSTEM);
  const events = () =>
    host.query<{ id: string; type: string; sequence: string; data: { message?: { id: string } } }>(
      `SELECT id, type, sequence, data FROM events
       WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND sequence IS NOT NULL ORDER BY id`,
      [workspace.id, conversation.id],
    );
  const row = async () => {
    const [found] = await host.query('SELECT * FROM conversations WHERE id = $1', [conversation.id]);
    return found!;
  };

  /** Returns the first words of the statements that a call sends. */
  async function statementsOf(call: () => Promise<unknown>): Promise<string[]> {
    const grouped = jest.spyOn(StatementGroup.prototype, 'add');
    const alone = jest.spyOn(Client.prototype, 'query');
    try {
      await call();
      const lone = (alone.mock.calls as unknown[][]).flatMap(([query]) =>
        query instanceof StatementGroup ? [] : [(query as { text: string }).text],
      );
      return [...grouped.mock.calls.map(([, sql]) => sql), ...lone].map((sql) => sql.trim().split(/\s/)[0]!);
    } finally {
      grouped.mockRestore();
      alone.mockRestore();
    }
  }

  it('takes one statement, or a transaction on Citus, and is stored as in a transaction', async () => {
    const stored = async (actor: Actor) => {
      conversation = await host.make.conversation(workspace);
      let id = '';
      const statements = await statementsOf(async () => {
        const sent = await host
          .get(MessagesService)
          .send(workspace.id, conversation.id, { body: ' "1\n2" \\ ü 🙂 \u0007' }, actor);
        id = sent.message.id;
      });
      const rows = await host.query<Record<string, unknown>>(
        `SELECT to_jsonb(m) AS message, e.data::text, to_jsonb(e) - 'data' AS event, to_jsonb(q) AS queued, to_jsonb(c) - 'contact_id' AS conversation
         FROM messages m JOIN events e ON e.tenant_id = $1 AND e.id = m.id
         JOIN event_queue q ON q.tenant_id = $1 AND q.event_id = m.id
         JOIN conversations c ON c.tenant_id = $1 AND c.id = m.conversation_id
         WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = $3`,
        [workspace.id, conversation.id, id],
      );
      expect(rows).toHaveLength(1);
      const text = JSON.stringify(rows[0])
        .replaceAll(id, 'MESSAGE')
        .replaceAll(conversation.id, 'CONVERSATION');
      return { statements, text: text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'TIME') };
    };
    const [alone, inTransaction] = [await stored(KEY), await stored(SYSTEM)];
    if (!isOnCitus()) expect(alone.statements).toEqual(['WITH']);
    expect(inTransaction.statements).toHaveLength(8);
    expect(alone.text).toBe(inTransaction.text);
  });

  it('takes one statement with an Idempotency-Key too, and is sent once however often and at once it comes', async () => {
    const other = await host.make.agent(workspace, { role: 'AGENT' });
    for (const senderAgentId of [undefined, other.id]) {
      const key = randomUUID();
      let replayed = 0;
      const request = (body: string): IdempotentRequest => ({
        key,
        fingerprint: () => Buffer.from(body.padEnd(32)),
        isSame: (fingerprint) => fingerprint.equals(Buffer.from(body.padEnd(32))),
        markReplayed: () => void replayed++,
      });
      const sendOnce = (body: string) =>
        host
          .get(MessagesService)
          .send(workspace.id, conversation.id, { body, senderAgentId }, KEY, request(body));
      const before = (await events()).length;
      await Promise.all(Array.from({ length: AT_ONCE }, () => host.get(Database).query('SELECT 1')));
      const connections = jest.spyOn(Client.prototype, 'connect');
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => sendOnce('On its way.')));
      expect(replayed).toBe(AT_ONCE - 1);
      // A connection is kept, whatever the key violated on it.
      expect(connections).not.toHaveBeenCalled();
      connections.mockRestore();
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]!.message.senderAgentId).toBe(senderAgentId ?? owner.id);
      expect((await events()).slice(before).map(({ id }) => id)).toEqual([answers[0]!.message.id]);
      await expectRefusal(sendOnce('Another'), 'IDEMPOTENCY_CONFLICT');
      const [kept] = await host.query<{ response: object; id: string }>(
        'SELECT response, conversation_id AS id FROM idempotency_keys WHERE tenant_id = $1 AND key = $2',
        [workspace.id, key],
      );
      expect(kept).toEqual({ response: JSON.parse(JSON.stringify(answers[0])), id: conversation.id });
    }
    const request = { key: randomUUID(), fingerprint: () => Buffer.alloc(32) } as IdempotentRequest;
    const statements = await statementsOf(() =>
      host.get(MessagesService).send(workspace.id, conversation.id, { body: 'Once' }, KEY, request),
    );
    if (!isOnCitus()) expect(statements).toEqual(['WITH']);
  });

  it('shows the first manager as the sender, or the agent that it names', async () => {
    const named = await host.make.agent(workspace, { role: 'AGENT' });
    expect((await send()).message.senderAgentId).toBe(owner.id);
    expect((await send('Hello', named.id)).message.senderAgentId).toBe(named.id);
  });

  it('is refused as in a transaction, and changes nothing', async () => {
    const gone = await host.make.agent(workspace);
    await host.get(AgentsService).update(workspace.id, gone.id, { active: false }, SYSTEM);
    const elsewhere = await host.make.agent(await host.make.workspace());
    const before = await row();
    for (const id of [gone.id, elsewhere.id, randomUUID(), 'agent'])
      await expectRefusal(send('Hello', id), 'INVALID_BODY');
    expect(await row()).toEqual(before);
    expect(await events()).toEqual([]);
    conversation = await host.make.conversation(workspace, { channel: 'MESSENGER' });
    await expectRefusal(send('x'.repeat(2_001)), 'INVALID_BODY');
    expect((await send('x'.repeat(2_000))).message.body).toHaveLength(2_000);
    for (const id of [randomUUID(), 'conversation']) {
      conversation = { ...conversation, id };
      await expectRefusal(send(), 'NOT_FOUND');
    }
    conversation = await host.make.conversation(await host.make.workspace());
    await expectRefusal(send(), 'NOT_FOUND');
  });

  it('is numbered in the order of the ids, also among others and changes at once', async () => {
    const sent = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, n) => {
        if (n % 7 === 3) await change({ status: n % 2 ? 'CLOSED' : 'OPEN' });
        return (await send(`No. ${n}`)).message;
      }),
    );
    const found = await events();
    expect(found.map(({ sequence }) => Number(sequence))).toEqual(found.map((_, n) => n + 1));
    expect(found.length).toBeGreaterThan(AT_ONCE);
    const created = found.filter(({ type }) => type === 'message.created');
    expect(created.map(({ id }) => id)).toEqual(sent.map(({ id }) => id).sort());
    expect(created.map(({ data }) => data.message!.id)).toEqual(created.map(({ id }) => id));
    const { data } = await host.get(MessagesService).list(workspace.id, conversation.id, {}, SYSTEM);
    expect(data.map(({ id }) => id).reverse()).toEqual(created.map(({ id }) => id));
    expect(await row()).toMatchObject({
      last_message_id: data[0]!.id,
      last_message_preview: data[0]!.body,
      event_sequence: String(found.length),
    });
  });

  it.each(['000000000000', 'fffffffffffe'])(
    'gets an id after that of the last message, even if that one lies in the future and ends in %s',
    async (end) => {
      const last = idFloor(new Date(Date.now() + HOUR_MS)).slice(0, -end.length) + end;
      await host.query('UPDATE conversations SET last_message_id = $2 WHERE id = $1', [
        conversation.id,
        last,
      ]);
      const ids = [];
      for (let n = 0; n < 3; n++) ids.push((await send()).message.id);
      expect([last, ...ids].sort()).toEqual([last, ...ids]);
      expect((await events()).map(({ id, data }) => [id, data.message!.id])).toEqual(
        ids.map((id) => [id, id]),
      );
    },
  );

  it('waits for a change that has locked the conversation, and gets a higher id than its event', async () => {
    await send();
    const other = new Client({ connectionString: host.stores.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM conversations WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE', [
      workspace.id,
      conversation.id,
    ]);
    const sent = send();
    await waitForLockWait(host, 'the message');
    const id = newId();
    await other.query(
      `UPDATE conversations SET status = 'CLOSED', updated_at = $2, event_sequence = event_sequence + 1 WHERE id = $1`,
      [conversation.id, new Date()],
    );
    await other.query('COMMIT');
    await other.end();
    const { message } = await sent;
    expect(message.id > id).toBe(true);
    expect(await row()).toMatchObject({ status: 'CLOSED', event_sequence: '3', last_message_id: message.id });
  });

  it('is not inserted by one statement with an id that is old, or soon after a change', async () => {
    if (isOnCitus()) return;
    const insert = (ageMs: number) => {
      const message = {
        tenantId: workspace.id,
        conversationId: conversation.id,
        id: newId(),
        createdAt: new Date(Date.now() - ageMs),
        senderType: 'AGENT',
        body: 'On its way.',
        deliveryStatus: 'QUEUED',
      };
      const made = { message, preview: '', data: '{}', channels: ['WIDGET'] };
      return host.get(UnlockedSendsRepository).insert(undefined, null, () => made as never);
    };
    const before = await row();
    expect(await insert(MAX_ID_AGE_MS + 100)).toBeUndefined();
    expect(await row()).toEqual(before);
    expect(await insert(0)).toMatchObject({ senderAgentId: owner.id });
    await change({ status: 'CLOSED' });
    const changed = await row();
    expect(await insert(0)).toBeUndefined();
    expect(await row()).toEqual(changed);
    await host.query(`UPDATE conversations SET updated_at = now() - interval '3 seconds' WHERE id = $1`, [
      conversation.id,
    ]);
    expect(await insert(0)).toMatchObject({ senderAgentId: owner.id });
  });
});
