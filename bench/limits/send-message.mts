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
 * Stores a message, its conversation's preview and its event by one statement, and wakes the relay. Returns
 * the API's response, or null if the conversation is unknown.
 */
export async function sendMessage(sending: Sending): Promise<{ message: SentMessage } | null> {
  const { database, redis, tenantId, conversationId } = sending;
  const { body } = sending.body as { body?: unknown };
  if (typeof body !== 'string' || body.trim() === '') throw new Error('INVALID_BODY');
  const id = newId();
  const createdAt = new Date();
  const preview = body.trim().replace(/\s+/g, ' ').slice(0, PREVIEW_LENGTH);
  const data = { conversationId, message: { id, body, senderType: 'AGENT', createdAt } };
  const [sent] = await database.query<{ sender_id: string }>('send-message', [
    tenantId,
    conversationId,
    id,
    preview,
    createdAt,
    body,
    JSON.stringify(data),
  ]);
  if (!sent) return null;
  void redis.publish(channelIn(redis, channelOf(OUTBOX_SIGNAL, tenantId)), JSON.stringify({ tenantId }));
  const delivery = { status: 'QUEUED', error: null } as const;
  const senderAgentId = sent.sender_id;
  return { message: { id, senderType: 'AGENT', senderAgentId, body, createdAt, delivery, ...UNCHANGED } };
}
