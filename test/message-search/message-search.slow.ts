import { EventEmitter } from 'node:events';
import { SYSTEM } from '../../src/access/principal';
import { MessageSearchService } from '../../src/message-search/message-search.service';
import { FoundMessages, SearchMessagesQuery } from '../../src/message-search/message-search.dto';
import { MessageRetentionService } from '../../src/privacy/message-retention.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { Database } from '../../src/database/database';
import { completeErasure, erasuresOf } from '../support/erasures';
import { TestService } from '../support/service';
import { insertMessages, makeOldConversation } from '../support/stored-messages';
import { waitFor } from '../support/wait';

/** Number of messages that are indexed for longer than a message of another workspace. */
const MANY = 30_000;
const MANY_WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');

interface InWorkspace {
  id: string;
}

describe('the search in messages', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    await TestService.create({ role: 'worker', beside: service });
  });

  const search = (
    { id }: InWorkspace,
    text: string,
    query: Partial<SearchMessagesQuery> = {},
  ): Promise<FoundMessages> =>
    service.app.get(MessageSearchService, { strict: false }).search(id, { text, ...query }, SYSTEM);
  const idsOf = ({ data }: FoundMessages) => data.map(({ id }) => id);
  const found = async (workspace: InWorkspace, text: string) => idsOf(await search(workspace, text));

  /** Waits until a message is found by a word of its own. */
  const waitForWord = (workspace: InWorkspace, word: string) =>
    waitFor(`a message with ${word}`, async () => (await found(workspace, word)).length > 0);

  /** Returns the rows of the index, without the numbers of buckets, which depend on who was first. */
  const rowsOf = ({ id }: InWorkspace) =>
    service.query(
      `SELECT message_id AS id, cardinality(terms) AS terms FROM message_search WHERE tenant_id = $1 ORDER BY message_id`,
      [id],
    );

  async function makeWorkspace(): Promise<{ workspace: InWorkspace; conversation: InWorkspace }> {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    return { workspace, conversation: await service.make.conversation(workspace) };
  }

  /**
   * Makes three messages with the word "needle", as if so many others had come after each of them.
   * @returns their ids, the newest first
   */
  async function makeNeedles(others: number): Promise<{ workspace: InWorkspace; ids: string[] }> {
    const { workspace, conversation } = await makeWorkspace();
    const ids: string[] = [];
    for (const word of ['first', 'second', 'third']) {
      const { id } = await service.make.received(workspace, conversation, `needle ${word}`);
      ids.unshift(id);
      await waitForWord(workspace, word);
      await service.query('UPDATE message_search_progress SET newer = newer + $2 WHERE tenant_id = $1', [
        workspace.id,
        others,
      ]);
    }
    return { workspace, ids };
  }

  it('finds messages of both sides, with what stands around the words', async () => {
    const { workspace, conversation } = await makeWorkspace();
    const asked = await service.make.received(workspace, conversation, 'Where is my BLUE parcel?');
    const answered = await service.make.sent(workspace, conversation, 'Your parcel is on its way.');
    await service.make.received(workspace, conversation, 'Thank you <b>very</b> much');
    await waitForWord(workspace, 'thank');

    expect(await search(workspace, 'parcel')).toEqual({
      data: [
        {
          id: answered.id,
          conversationId: conversation.id,
          senderType: 'AGENT',
          senderAgentId: answered.senderAgentId,
          createdAt: answered.createdAt,
          excerpt: [
            { text: 'Your ', isHit: false },
            { text: 'parcel', isHit: true },
            { text: ' is on its way.', isHit: false },
          ],
          sourceChannel: 'WIDGET',
          status: 'OPEN',
          contact: { id: expect.any(String), name: 'Zoë Martín' },
        },
        expect.objectContaining({ id: asked.id, senderType: 'CUSTOMER', senderAgentId: null }),
      ],
      nextCursor: null,
      searchedUntil: null,
      isIndexComplete: expect.any(Boolean),
    });
    expect(await found(workspace, 'PARCEL blue')).toEqual([asked.id]);
    expect(await found(workspace, '"parcel is"')).toEqual([answered.id]);
    expect(await found(workspace, '"is parcel"')).toEqual([]);
    expect(await found(workspace, 'parce')).toEqual([]);
    expect(await found(workspace, '?!')).toEqual([]);
    expect((await search(workspace, 'very')).data[0]!.excerpt.map(({ text }) => text).join('')).toBe(
      'Thank you <b>very</b> much',
    );
  });

  it('finds texts of every script', async () => {
    const { workspace, conversation } = await makeWorkspace();
    const texts = ['Größe', 'مَرحَبًا بك', 'שלום לך', '我的包裹在哪里', '東京タワー', 'สวัสดีครับ', 'done 👍🏽'];
    for (const text of texts) await service.make.received(workspace, conversation, text);
    await waitForWord(workspace, '👍');
    for (const [word, n] of [
      ['grosse', 0],
      ['مرحبا', 1],
      ['שלום', 2],
      ['包裹', 3],
      ['哪', 3],
      ['タワ', 4],
      ['ครับ', 5],
    ] as const)
      expect(
        (await search(workspace, word)).data.map(({ excerpt }) => excerpt.map(({ text }) => text).join('')),
      ).toEqual([texts[n]]);
    expect(await found(workspace, '裹包')).toEqual([]);
  });

  it('goes on by cursor, and keeps to a status', async () => {
    const { workspace, conversation } = await makeWorkspace();
    const closed = await service.make.conversation(workspace);
    const ids: string[] = [];
    for (let n = 0; n < 7; n++)
      ids.unshift((await service.make.received(workspace, n % 2 ? closed : conversation, `Parcel ${n}`)).id);
    await service.make.updateConversation(workspace, closed, { status: 'CLOSED' });
    await service.make.received(workspace, conversation, 'marker');
    await waitForWord(workspace, 'marker');

    const pages: string[][] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor;) {
      const page = await search(workspace, 'parcel', { limit: 3, cursor });
      pages.push(idsOf(page));
      cursor = page.nextCursor ?? undefined;
    }
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    expect(idsOf(await search(workspace, 'parcel', { status: 'CLOSED' }))).toEqual(
      ids.filter((_, index) => index % 2 === 1),
    );
  });

  it('finds what lies more than four million messages apart', async () => {
    const { workspace, ids } = await makeNeedles(5_000_000);
    expect(await search(workspace, 'needle')).toMatchObject({
      data: ids.map((id) => ({ id })),
      nextCursor: null,
    });
    const pages: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null && pages.length < 4;) {
      const page = await search(workspace, 'needle', { limit: 1, cursor });
      pages.push(...idsOf(page));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual(ids);
  });

  it('ends a page after many messages without the words, and goes on to the end', async () => {
    const { workspace, ids } = await makeNeedles(100_000_000);
    const pages: FoundMessages[] = [];
    for (let cursor: string | null | undefined; cursor !== null && pages.length < 10;) {
      pages.push(await search(workspace, 'needle', { cursor }));
      cursor = pages.at(-1)!.nextCursor;
    }
    expect(pages.map(idsOf)).toEqual(ids.map((id) => [id]));
    expect(pages.map(({ searchedUntil }) => searchedUntil !== null)).toEqual([true, true, false]);
    expect((await search(workspace, 'absent')).nextCursor).toBe(ids[0]);
  });

  it('comes to the end in few pages when no message has the words', async () => {
    const { workspace, conversation } = await makeWorkspace();
    await insertMessages(service, workspace.id, conversation.id, 300, 'early parcel', 20);
    await service.make.received(workspace, conversation, 'new parcel');
    await waitForWord(workspace, 'new');
    // As if there were 30,000 buckets, of which one page goes through 8,000.
    await service.query(
      `UPDATE message_search s SET bucket = 100 * n FROM (
         SELECT message_id, row_number() OVER (ORDER BY message_id) AS n FROM message_search WHERE tenant_id = $1) AS r
       WHERE s.tenant_id = $1 AND s.message_id = r.message_id`,
      [workspace.id],
    );
    await service.query(
      'UPDATE message_search_progress SET newer = 30100::bigint * 4096 WHERE tenant_id = $1',
      [workspace.id],
    );
    const cursors: (string | null)[] = [];
    for (let cursor: string | null | undefined; cursor !== null && cursors.length < 10;) {
      cursor = (await search(workspace, 'absent', { cursor })).nextCursor;
      cursors.push(cursor);
    }
    // A page may begin again up to 1,000 buckets before the last one's end.
    expect([4, 5]).toContain(cursors.length);
    expect(cursors.at(-1)).toBeNull();
  });

  it('ends with its caller', async () => {
    const { workspace, conversation } = await makeWorkspace();
    await service.make.received(workspace, conversation, 'needle');
    await waitForWord(workspace, 'needle');
    const caller = new EventEmitter() as EventEmitter & { closed: boolean };
    const found = service.app
      .get(MessageSearchService, { strict: false })
      .search(workspace.id, { text: 'absent' }, SYSTEM, Object.assign(caller, { closed: true }));
    await expect(found).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('finds nothing of another workspace', async () => {
    const [own, foreign] = [await makeWorkspace(), await makeWorkspace()];
    await service.make.received(own.workspace, own.conversation, 'secret parcel');
    await service.make.received(foreign.workspace, foreign.conversation, 'another parcel');
    await waitForWord(own.workspace, 'secret');
    await waitForWord(foreign.workspace, 'another');
    expect(await found(foreign.workspace, 'parcel')).toHaveLength(1);
    expect(await found(foreign.workspace, 'secret')).toEqual([]);
  });

  it('refuses what is no search', async () => {
    const { workspace } = await makeWorkspace();
    for (const input of [{}, { text: 'x'.repeat(201) }, { text: 'x', limit: 0 }, { text: 'x', status: 'x' }])
      await expect(
        service.app
          .get(MessageSearchService, { strict: false })
          .search(workspace.id, input as SearchMessagesQuery, SYSTEM),
      ).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('forgets the messages of an erased contact', async () => {
    const { workspace, conversation } = await makeWorkspace();
    const erased = await service.make.conversation(workspace);
    await service.make.received(workspace, erased, 'confidential parcel');
    await service.make.received(workspace, conversation, 'young parcel');
    await waitForWord(workspace, 'young');
    expect(await found(workspace, 'parcel')).toHaveLength(2);

    const erasure = await erasuresOf(service).start(workspace.id, erased.contact.id, SYSTEM);
    await completeErasure(service, workspace.id, erasure);
    expect(await found(workspace, 'parcel')).toHaveLength(1);
    expect(await found(workspace, 'confidential')).toEqual([]);
    expect(await rowsOf(workspace)).toHaveLength(1);
  });

  it('forgets messages that are older than their workspace keeps them, and no others', async () => {
    const { workspace, conversation } = await makeWorkspace();
    // Its messages say "words".
    const old = await makeOldConversation(service, workspace, [40, 31, 29]);
    const young = await service.make.received(workspace, conversation, 'young words');
    await waitForWord(workspace, 'young');
    // The old ones have no events by which they would be indexed.
    await service.query(
      `INSERT INTO message_search (tenant_id, message_id, conversation_id, bucket, terms)
       SELECT m.tenant_id, m.id, m.conversation_id, s.bucket, s.terms FROM messages m, message_search s
       WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND s.tenant_id = $1 AND s.message_id = $3`,
      [workspace.id, old.id, young.id],
    );
    expect(await found(workspace, 'words')).toHaveLength(4);

    await service.app.get(WorkspacesService).update(workspace.id, { messageRetentionDays: 30 }, SYSTEM);
    expect(await service.app.get(MessageRetentionService, { strict: false }).clean()).toBe(2);
    const left = await search(workspace, 'words');
    expect(left.data.map((one) => one.conversationId)).toEqual([conversation.id, old.id]);
    expect(idsOf(left)[0]).toBe(young.id);
    expect(await rowsOf(workspace)).toHaveLength(2);
  });

  it('writes no word of a text that is erased while the index is filled', async () => {
    const { workspace, conversation } = await makeWorkspace();
    await service.make.received(workspace, conversation, 'first');
    await waitForWord(workspace, 'first');
    const message = await service.make.received(workspace, conversation, 'confidential');
    // While this transaction has the lock, workers leave the workspace alone, and an erasure waits.
    await service.app.get(Database, { strict: false }).transaction(async (tx) => {
      await tx.query('SELECT 1 FROM message_search_progress WHERE tenant_id = $1 FOR NO KEY UPDATE', [
        workspace.id,
      ]);
      await tx.query(`UPDATE messages SET body = '' WHERE tenant_id = $1 AND id = $2`, [
        workspace.id,
        message.id,
      ]);
      await tx.query(
        `UPDATE events SET data = jsonb_set(data::jsonb, '{message,body}', '""')::json WHERE tenant_id = $1 AND id = $2`,
        [workspace.id, message.id],
      );
    });
    await service.make.received(workspace, conversation, 'last');
    await waitForWord(workspace, 'last');
    expect(await rowsOf(workspace)).toHaveLength(2);
  });

  it('goes with its workspace', async () => {
    const { workspace, conversation } = await makeWorkspace();
    await service.make.received(workspace, conversation, 'last words');
    await waitForWord(workspace, 'last');
    await service.app.get(WorkspacesService).delete(workspace.id, { graceDays: 0 }, SYSTEM);
    await waitFor('the deletion', async () => {
      const rows = await service.query('SELECT 1 FROM workspaces WHERE id = $1', [workspace.id]);
      return rows.length === 0;
    });
    expect(await rowsOf(workspace)).toEqual([]);
  });

  it("does not let a workspace wait for another's many messages", async () => {
    const [busy, quiet] = [await makeWorkspace(), await makeWorkspace()];
    await insertMessages(service, busy.workspace.id, busy.conversation.id, MANY, MANY_WORDS);
    await service.make.received(busy.workspace, busy.conversation, 'begin');
    await waitFor('the begin', async () => (await rowsOf(busy.workspace)).length > 100, 60_000);
    await service.make.received(quiet.workspace, quiet.conversation, 'quick');
    await waitForWord(quiet.workspace, 'quick');
    expect((await rowsOf(busy.workspace)).length).toBeLessThan(MANY);
  }, 60_000);
});
