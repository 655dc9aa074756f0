import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';
import { makeKeys } from './term-keys';

/** Number of workspaces that one step of the search over all of them looks at. */
const STEP_WORKSPACES = 500;

/** Progress of the index of a workspace. */
export interface IndexProgress {
  /** Id up to which messages are indexed. */
  indexedUntil: string;
  /** Number of the messages that are numbered upwards from 0. */
  newer: number;
}

/** Text of a message, with the values that the index needs of the message. */
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

/** Workspace, with the state of its index as a search over all workspaces reads it. */
export interface WorkspaceIndex {
  tenantId: string;
  /** Id of the newest message; null without a conversation. */
  latest: string | null;
  indexedUntil: string | null;
}

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
      `SELECT w.id AS "tenantId", p.indexed_until AS "indexedUntil",
              greatest(${latestOf('OPEN')}, ${latestOf('SNOOZED')}, ${latestOf('CLOSED')}) AS latest
       FROM workspaces w LEFT JOIN message_search_progress p ON p.tenant_id = w.id
       WHERE w.id > $1 ORDER BY w.id LIMIT ${STEP_WORKSPACES}`,
      [after],
      { order: ({ tenantId }) => [tenantId], limit: STEP_WORKSPACES },
    );
    return { workspaces, next: workspaces.length < STEP_WORKSPACES ? null : workspaces.at(-1)!.tenantId };
  }

  /** Begins the index of a workspace, with its oldest event. */
  async startIndex(tx: Transaction, tenantId: string): Promise<void> {
    await tx.query(
      `INSERT INTO message_search_progress (tenant_id, first_id, indexed_until, stage,
         position_conversation, position_message)
       VALUES ($1, $2, $2, 'DONE', $2, $2)
       ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantId, LOWEST_ID],
    );
  }

  /** Locks the index of a workspace; null when it has not begun, or another worker has it. */
  async lock(tx: Transaction, tenantId: string): Promise<IndexProgress | null> {
    const [row] = await tx.prepared<IndexProgress>(
      `SELECT indexed_until AS "indexedUntil", newer::float8 AS newer FROM message_search_progress WHERE tenant_id = $1 FOR NO KEY UPDATE SKIP LOCKED`,
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
      'UPDATE message_search_progress SET indexed_until = $2, newer = $3 WHERE tenant_id = $1',
      [tenantId, progress.indexedUntil, progress.newer],
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
   * messages, or that of the next older message.
   */
  async findBuckets(tx: Transaction, tenantId: string, ids: string[]): Promise<Map<string, number>> {
    const rows = await tx.prepared<{ id: string; bucket: number }>(
      `SELECT k.id, found.bucket FROM unnest($2::uuid[]) AS k (id), LATERAL (
         SELECT message_id, bucket FROM (
           SELECT message_id, bucket FROM message_search
           WHERE tenant_id = $1 AND message_id <= k.id ORDER BY message_id DESC LIMIT 100) AS older
         WHERE bucket IS NOT NULL ORDER BY message_id DESC LIMIT 1) AS found`,
      [tenantId, ids],
    );
    return new Map(rows.map(({ id, bucket }) => [id, bucket]));
  }

  /** Adds changed messages with their words, or replaces their words. */
  async replaceTexts(tx: Transaction, tenantId: string, texts: IndexedText[]): Promise<void> {
    await this.insert(tx, tenantId, texts, 'UPDATE SET bucket = excluded.bucket, terms = excluded.terms');
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
    await tx.prepared('DELETE FROM message_search WHERE tenant_id = $1 AND message_id = ANY ($2::uuid[])', [
      tenantId,
      ids,
    ]);
  }
}
