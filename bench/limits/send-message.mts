import { channelIn } from '#dist/redis/redis-connections.js';
import { channelOf } from '#dist/redis/worker-shards.js';
import type { Redis } from 'ioredis';
import { v7 as newId } from 'uuid';
import { OUTBOX_SIGNAL } from '../support/settings.mts';
import type { LimitDatabase } from './database.mts';

const PREVIEW_LENGTH = 140;
/** Fields of a message that its customer has not changed. */
const UNCHANGED = { editedAt: null, unsentAt: null, reactions: [] as [] };

/**
 * Arguments of `sendMessage`: the workspace, the conversation, the request's body, and clients of PostgreSQL
 * and Redis.
 */
export interface Sending {
  database: LimitDatabase;
  redis: Redis;
  tenantId: string;
  conversationId: string;
  /** Request's body as parsed JSON, not validated. */
  body: unknown;
}

interface SentMessage {
  id: string;
  senderType: 'AGENT';
  senderAgentId: string;
  body: string;
  createdAt: Date;
  delivery: { status: string; error: null };
  editedAt: null;
  unsentAt: null;
  reactions: [];
}

/**
 * Stores a message, its conversation's preview and its event in one transaction, and wakes the relay. Returns
 * the API's response, or null if the conversation is unknown.
 */
export async function sendMessage(sending: Sending): Promise<{ message: SentMessage } | null> {
  const { database, redis, tenantId, conversationId } = sending;
  const { body } = sending.body as { body?: unknown };
  if (typeof body !== 'string' || body.trim() === '') throw new Error('INVALID_BODY');
  const message = await database.transaction(async (tx): Promise<SentMessage | null> => {
    const [[conversation], [manager]] = await Promise.all([
      tx.query<{ event_sequence: string }>('lock-conversation', [tenantId, conversationId]),
      tx.query<{ id: string }>('first-manager', [tenantId]),
    ]);
    if (!conversation) return null;
    if (!manager) throw new Error('INVALID_BODY');
    const id = newId();
    const createdAt = new Date();
    tx.pipeline('insert-message', [tenantId, conversationId, id, manager.id, body, createdAt]);
    const preview = body.trim().replace(/\s+/g, ' ').slice(0, PREVIEW_LENGTH);
    const sequence = String(BigInt(conversation.event_sequence) + 1n);
    tx.pipeline('set-last-message', [tenantId, conversationId, id, preview, createdAt, sequence]);
    const data = { conversationId, message: { id, body, senderType: 'AGENT', createdAt } };
    tx.pipeline('append-event', [tenantId, newId(), JSON.stringify(data), sequence, new Date()]);
    const delivery = { status: 'QUEUED', error: null };
    return {
      id,
      senderType: 'AGENT',
      senderAgentId: manager.id,
      body,
      createdAt,
      delivery,
      ...UNCHANGED,
    };
  });
  if (!message) return null;
  void redis.publish(channelIn(redis, channelOf(OUTBOX_SIGNAL, tenantId)), JSON.stringify({ tenantId }));
  return { message };
}
