import { Injectable } from '@nestjs/common';
import { HIGHEST_ID } from '../common/ids';
import { expectOneRow } from '../database/key-list';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';
import { makeKeys } from './term-keys';

/** Number of workspaces that one step of the search over all of them looks at. */
const STEP_WORKSPACES = 500;

/**
 * Stage in which the messages that were there before the index are added to it. First old rows are deleted
 * (CLEAR), then the ids of the messages are listed (LIST), then their words are added from the newest to the
 * oldest (FILL).
 */
export type Stage = 'CLEAR' | 'LIST' | 'FILL' | 'DONE';

/** Progress of the index of a workspace. */
export interface IndexProgress {
  /** Lowest id of the messages that are indexed as they come. Those below it are added by the stages. */
  firstId: string;
  /** Id up to which messages are indexed, from `firstId` on. */
  indexedUntil: string;
  /** Number of the messages that were numbered upwards from 0, and downwards from -1. */
  newer: number;
  older: number;
  stage: Stage;
  /** Message before which the stage goes on; FILL goes on before `positionMessage` alone. */
  positionConversation: string;
  positionMessage: string;
}

/** Message with what the index needs of it. */
export interface IndexedText {
  messageId: string;
  conversationId: string;
  bucket: number;
  terms: Iterable<string>;
}

export interface MessageKeys {
  id: string;
  conversationId: string;
}

/** Text of a message that is not in the index yet. */
export interface PendingText extends MessageKeys {
  /** Text, and that of before an edit; null for an event of another kind. */
  body: string | null;
  /** Message that an event tells of a change of; null for a message that is new. */
  changedId: string | null;
}

/** Workspace with what a search over all of them sees of its index. */
export interface WorkspaceIndex {
  tenantId: string;
  /** Id of the newest message; null without a conversation. */
  latest: string | null;
  indexedUntil: string | null;
  stage: Stage | null;
}

const COLUMNS = `first_id AS "firstId", indexed_until AS "indexedUntil", newer::float8 AS newer,
  older::float8 AS older, stage, position_conversation AS "positionConversation",
  position_message AS "positionMessage"`;

/** SQL of the words of a row `n`: an array can't be a value of a list. */
const TERMS = `string_to_array(n.terms, ',')::bigint[]`;

/** SQL of the texts that a row `m` of messages has, that of before an edit first. */
const TEXTS = `concat_ws(E'\\n', m.first_body, m.body)`;

const latestOf = (status: string) =>
  `(SELECT coalesce(last_message_id, id) FROM conversations
    WHERE tenant_id = w.id AND status = '${status}' ORDER BY coalesce(last_message_id, id) DESC LIMIT 1)`;

/** Writes the index of messages' words. */
@Injectable()
export class MessageIndexRepository {
  /** Makes a step of a search over the workspaces of a server; `next` is null after the last. */
  async findWorkspaces(
    after: string,
    server: WorkspaceServer,
  ): Promise<{ workspaces: WorkspaceIndex[]; next: string | null }> {
    const workspaces = await server.search<WorkspaceIndex>(
      `SELECT w.id AS "tenantId", p.indexed_until AS "indexedUntil", p.stage,
              greatest(${latestOf('OPEN')}, ${latestOf('SNOOZED')}, ${latestOf('CLOSED')}) AS latest
       FROM workspaces w LEFT JOIN message_search_progress p ON p.tenant_id = w.id
       WHERE w.id > $1 ORDER BY w.id LIMIT ${STEP_WORKSPACES}`,
      [after],
      { order: ({ tenantId }) => [tenantId], limit: STEP_WORKSPACES },
    );
    return { workspaces, next: workspaces.length < STEP_WORKSPACES ? null : workspaces.at(-1)!.tenantId };
  }

  /** Begins the index of a workspace: messages from `firstId` on are indexed as they come. */
  async startIndex(tx: Transaction, tenantId: string, firstId: string): Promise<void> {
    await tx.query(
      `INSERT INTO message_search_progress (tenant_id, first_id, indexed_until, stage,
         position_conversation, position_message)
       VALUES ($1, $2, $2, 'LIST', $3, $3)
       ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantId, firstId, HIGHEST_ID],
    );
  }

  /** Locks the index of a workspace; null when it has not begun, or another worker has it. */
  async lock(tx: Transaction, tenantId: string): Promise<IndexProgress | null> {
    const [row] = await tx.prepared<IndexProgress>(
      `SELECT ${COLUMNS} FROM message_search_progress WHERE tenant_id = $1 FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId],
    );
    return row ?? null;
  }

  async hasBegun(tx: Transaction, tenantId: string): Promise<boolean> {
    const rows = await tx.prepared('SELECT 1 FROM message_search_progress WHERE tenant_id = $1', [tenantId]);
    return rows.length > 0;
  }

  async save(tx: Transaction, tenantId: string, progress: IndexProgress): Promise<void> {
    await tx.prepared(
      `UPDATE message_search_progress SET first_id = $2, indexed_until = $3, newer = $4, older = $5, stage = $6,
         position_conversation = $7, position_message = $8
       WHERE tenant_id = $1`,
      [
        tenantId,
        progress.firstId,
        progress.indexedUntil,
        progress.newer,
        progress.older,
        progress.stage,
        progress.positionConversation,
        progress.positionMessage,
      ],
    );
  }

  /** Lists the next events of a workspace with the texts of those about messages, oldest first. */
  listNewTexts(
    tx: Transaction,
    tenantId: string,
    { after, before }: { after: string; before: string },
    count: number,
  ): Promise<PendingText[]> {
    return tx.prepared<PendingText>(
      `SELECT id, data->>'conversationId' AS "conversationId",
              CASE WHEN type = 'message.updated' THEN data->>'messageId' END AS "changedId",
              CASE type WHEN 'message.created' THEN data->'message'->>'body'
                WHEN 'message.updated' THEN (
                  SELECT ${TEXTS} FROM messages m WHERE m.tenant_id = $1
                    AND m.conversation_id = (data->>'conversationId')::uuid AND m.id = (data->>'messageId')::uuid)
              END AS body
       FROM events WHERE tenant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
      [tenantId, after, before, count],
    );
  }

  /** Lists messages of a workspace before a position, the newest conversations first. */
  listMessages(
    tx: Transaction,
    tenantId: string,
    { conversationId, id }: MessageKeys,
    count: number,
  ): Promise<(MessageKeys & { hasBody: boolean })[]> {
    return tx.prepared(
      `SELECT conversation_id AS "conversationId", id, body <> '' AS "hasBody" FROM messages
       WHERE tenant_id = $1 AND (conversation_id, id) < ($2, $3)
       ORDER BY conversation_id DESC, id DESC LIMIT $4`,
      [tenantId, conversationId, id, count],
    );
  }

  /** Lists listed messages below an id with their texts, newest first. */
  listOldTexts(tx: Transaction, tenantId: string, before: string, count: number): Promise<PendingText[]> {
    return tx.prepared<PendingText>(
      `SELECT s.id, s.conversation_id AS "conversationId",
              (SELECT ${TEXTS} FROM messages m
               WHERE m.tenant_id = $1 AND m.conversation_id = s.conversation_id AND m.id = s.id) AS body, NULL AS "changedId"
       FROM (SELECT message_id AS id, conversation_id FROM message_search
             WHERE tenant_id = $1 AND message_id < $2 ORDER BY message_id DESC LIMIT $3) AS s
       ORDER BY s.id DESC`,
      [tenantId, before, count],
    );
  }

  /** Adds the ids of messages, without their words. */
  async insertKeys(tx: Transaction, tenantId: string, messages: MessageKeys[]): Promise<void> {
    await tx.prepared(
      `INSERT INTO message_search (tenant_id, message_id, conversation_id)
       SELECT w.id, n.message_id, n.conversation_id
       FROM workspaces w, unnest($2::uuid[], $3::uuid[]) AS n (message_id, conversation_id) WHERE w.id = $1
       ON CONFLICT (tenant_id, message_id) DO NOTHING`,
      [tenantId, messages.map(({ id }) => id), messages.map(({ conversationId }) => conversationId)],
    );
  }

  /** Adds new messages with their words. */
  async insertTexts(tx: Transaction, tenantId: string, texts: IndexedText[]): Promise<void> {
    await this.insert(tx, tenantId, texts, 'NOTHING');
  }

  private async insert(
    tx: Transaction,
    tenantId: string,
    texts: IndexedText[],
    onConflict: string,
  ): Promise<void> {
    await tx.prepared(
      `INSERT INTO message_search (tenant_id, message_id, conversation_id, bucket, terms)
       SELECT w.id, n.message_id, n.conversation_id, n.bucket, ${TERMS}
       FROM workspaces w,
         unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[]) AS n (message_id, conversation_id, bucket, terms)
       WHERE w.id = $1
       ON CONFLICT (tenant_id, message_id) DO ${onConflict}`,
      [
        tenantId,
        texts.map(({ messageId }) => messageId),
        texts.map(({ conversationId }) => conversationId),
        texts.map(({ bucket }) => bucket),
        texts.map(({ bucket, terms }) => makeKeys(tenantId, bucket, terms)),
      ],
    );
  }

  /**
   * Returns the buckets for the words of changed messages: their own, so that buckets follow the order of
   * messages, or that of the next older message. Messages whose words a stage will add are left out.
   */
  async findBuckets(
    tx: Transaction,
    tenantId: string,
    ids: string[],
    { firstId, stage }: IndexProgress,
  ): Promise<Map<string, number>> {
    const rows = await tx.prepared<{ id: string; bucket: number }>(
      `SELECT k.id, found.bucket FROM unnest($2::uuid[]) AS k (id), LATERAL (
         SELECT message_id, bucket FROM (
           SELECT message_id, bucket FROM message_search
           WHERE tenant_id = $1 AND message_id <= k.id ORDER BY message_id DESC LIMIT 100) AS older
         WHERE bucket IS NOT NULL ORDER BY message_id DESC LIMIT 1) AS found
       WHERE found.message_id = k.id OR k.id >= $3 OR $4`,
      [tenantId, ids, firstId, stage === 'DONE'],
    );
    return new Map(rows.map(({ id, bucket }) => [id, bucket]));
  }

  /** Adds changed messages with their words, or replaces their words. */
  async replaceTexts(tx: Transaction, tenantId: string, texts: IndexedText[]): Promise<void> {
    await this.insert(tx, tenantId, texts, 'UPDATE SET bucket = excluded.bucket, terms = excluded.terms');
  }

  /** Adds the words of messages whose ids are listed. */
  async fillTexts(tx: Transaction, tenantId: string, texts: IndexedText[]): Promise<void> {
    await tx.prepared(
      `UPDATE message_search s SET bucket = n.bucket, terms = ${TERMS}
       FROM (SELECT $1::uuid AS tenant_id, message_id, bucket, terms
             FROM unnest($2::uuid[], $3::integer[], $4::text[]) AS u (message_id, bucket, terms)) AS n
       WHERE s.tenant_id = $1 AND s.message_id = n.message_id AND ${expectOneRow('n', 'message_id')}`,
      [
        tenantId,
        texts.map(({ messageId }) => messageId),
        texts.map(({ bucket }) => bucket),
        texts.map(({ bucket, terms }) => makeKeys(tenantId, bucket, terms)),
      ],
    );
  }

  /** Deletes up to `count` rows of a workspace, and returns whether there may be more. */
  async deleteSome(tx: Transaction, tenantId: string, count: number): Promise<boolean> {
    const rows = await tx.prepared<{ id: string }>(
      'SELECT message_id AS id FROM message_search WHERE tenant_id = $1 ORDER BY message_id LIMIT $2',
      [tenantId, count],
    );
    await this.delete(
      tx,
      tenantId,
      rows.map(({ id }) => id),
    );
    return rows.length === count;
  }

  /**
   * Erases messages from the index. The lock waits for a worker that has read one of the texts and not yet
   * written its words.
   */
  async erase(tx: Transaction, { tenantId, ids }: ErasedMessages): Promise<void> {
    if (ids.length === 0) return;
    await tx.query('SELECT 1 FROM message_search_progress WHERE tenant_id = $1 FOR NO KEY UPDATE', [
      tenantId,
    ]);
    await this.delete(tx, tenantId, ids);
  }

  private async delete(tx: Transaction, tenantId: string, ids: string[]): Promise<void> {
    await tx.prepared('DELETE FROM message_search WHERE tenant_id = $1 AND message_id = ANY ($2::uuid[])', [
      tenantId,
      ids,
    ]);
  }
}
