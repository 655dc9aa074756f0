import { createRequire } from 'node:module';
import { v7 as newId } from 'uuid';
import { OUTBOX_SIGNAL } from '../support/settings.mjs';

const { channelOf } = createRequire(import.meta.url)('../../dist/redis/worker-shards.js');

const PREVIEW_LENGTH = 140;

/**
 * Stores a message, its conversation's preview and its event in one transaction, and wakes the relay.
 * @returns the API's response, or null if the conversation is unknown
 */
export async function sendMessage({ database, redis, tenantId, conversationId, body: { body } }) {
  if (typeof body !== 'string' || body.trim() === '') throw new Error('INVALID_BODY');
  const message = await database.transaction(async ({ pipelineWithResult, pipeline }) => {
    const [[conversation], [manager]] = await Promise.all([
      pipelineWithResult('lock-conversation', [tenantId, conversationId]),
      pipelineWithResult('first-manager', [tenantId]),
    ]);
    if (!conversation) return null;
    const id = newId();
    const createdAt = new Date();
    pipeline('insert-message', [tenantId, conversationId, id, manager.id, body, createdAt]);
    const preview = body.trim().replace(/\s+/g, ' ').slice(0, PREVIEW_LENGTH);
    const sequence = String(BigInt(conversation.event_sequence) + 1n);
    pipeline('set-last-message', [tenantId, conversationId, id, preview, createdAt, sequence]);
    const data = { conversationId, message: { id, body, senderType: 'AGENT', createdAt } };
    pipeline('append-event', [tenantId, newId(), JSON.stringify(data), sequence, new Date()]);
    const delivery = { status: 'QUEUED', error: null };
    return { id, senderType: 'AGENT', senderAgentId: manager.id, body, createdAt, delivery };
  });
  if (!message) return null;
  void redis.publish(channelOf(OUTBOX_SIGNAL, tenantId), JSON.stringify(tenantId));
  return { message };
}
