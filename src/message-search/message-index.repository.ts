import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';
import { makeKeys } from './term-keys';

const STEP_WORKSPACES = 500;

export interface IndexProgress {
  /** Id up to which all messages are in the search index. */
  indexedUntil: string;
  /** Number of indexed new messages. They are numbered from 0, so the next one gets this number. */
  newer: number;
}

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

/** Event whose message may have a text that is not in the index. */
export interface PendingText extends MessageKeys {
  /** Text of the message, with the text before its first edit if there is one; null for other events. */
  body: string | null;
  /** Id of the message if the event reports that a message changed; null if it reports a new one. */
  changedId: string | null;
}

export interface WorkspaceIndex {
  tenantId: string;
  /** Id of the workspace's newest message; null without a conversation. */
  latest: string | null;
  indexedUntil: string | null;
}

/** SQL that reads the keys of a row `n`. They are passed as text, because `unnest` flattens nested arrays. */
const TERMS = `string_to_array(n.terms, ',')::bigint[]`;

/** SQL of the texts of a row `m` of `messages`: before its first edit, if any, and the present text. */
const TEXTS = `concat_ws(E'\\n', m.first_body, m.body)`;

const latestOf = (status: string) =>
  `(SELECT coalesce(last_message_id, id) FROM conversations
    WHERE tenant_id = w.id AND status = '${status}' ORDER BY coalesce(last_message_id, id) DESC LIMIT 1)`;

@Injectable()
export class MessageIndexRepository {
  /** Lists up to 500 workspaces of a server with ids above `after`; `next` is null after the last one. */
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

  async startIndex(tx: Transaction, tenantId: string): Promise<void> {
    await tx.query(
      `INSERT INTO message_search_progress (tenant_id, first_id, indexed_until, stage,
         position_conversation, position_message)
       VALUES ($1, $2, $2, 'DONE', $2, $2)
       ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantId, LOWEST_ID],
    );
  }

  /** Locks a workspace's index; returns null if there is none yet, or another transaction has locked it. */
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

  /** Lists a workspace's events between two ids, oldest first, with the texts of events about messages. */
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

  /** Inserts the words of new messages. Ignores messages that are in the index. */
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
   * Returns the bucket (group of 4,096 messages) for each changed message. A message that is not in the index
   * gets the bucket of the next older one, so that buckets stay in the order of messages. Reads only the next
   * 100 older messages.
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

  /** Replaces the words of changed messages. Inserts the words if a message is not in the index yet. */
  async replaceTexts(tx: Transaction, tenantId: string, texts: IndexedText[]): Promise<void> {
    await this.insert(tx, tenantId, texts, 'UPDATE SET bucket = excluded.bucket, terms = excluded.terms');
  }

  /**
   * Deletes messages from the index. Locks the workspace's index before, because a worker may have read one
   * of the texts and not yet committed its words.
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
