import { idFloor, newId } from '../../src/common/ids';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { deliveryIdOf } from '../../src/webhooks/deliveries/delivery';
import { MessagingHost } from './messaging-host';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Inserts messages as the service stores them, without their way through the queue.
 * @param apartMs milliseconds between two of them; the last one is of now
 */
export async function insertMessages(
  host: Pick<MessagingHost, 'query'>,
  tenantId: string,
  conversationId: string,
  count: number,
  body = 'many words',
  apartMs = 0,
): Promise<void> {
  const now = Date.now();
  const ids = Array.from({ length: count }, (_, n) => newIdAt(new Date(now - (count - n) * apartMs)));
  await host.query(
    `WITH message AS (
       INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
       SELECT $1, $2, id, 'CUSTOMER', $4, now() FROM unnest($3::uuid[]) AS id
     )
     INSERT INTO events (tenant_id, id, type, data, created_at)
     SELECT $1, id, 'message.created', json_build_object('conversationId', $2::text, 'message', json_build_object(
       'id', id, 'body', $4::text, 'senderType', 'CUSTOMER', 'createdAt', now())), now()
     FROM unnest($3::uuid[]) AS id`,
    [tenantId, conversationId, ids, body],
  );
}

/** Makes a conversation with messages of these ages in days, oldest first. */
export async function makeOldConversation(
  host: Pick<MessagingHost, 'make' | 'query'>,
  workspace: { id: string },
  ages: number[],
): Promise<ConversationDetail> {
  const conversation = await host.make.conversation(workspace);
  const times = ages.map((age) => new Date(Date.now() - age * DAY_MS));
  const ids = times.map(newIdAt);
  await host.query('UPDATE conversations SET id = $3 WHERE tenant_id = $1 AND id = $2', [
    workspace.id,
    conversation.id,
    (conversation.id = newIdAt(new Date(times[0]!.getTime() - DAY_MS))),
  ]);
  await host.query(
    `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
     SELECT $1, $2, id, 'CUSTOMER', 'words', at FROM unnest($3::uuid[], $4::timestamptz[]) AS m (id, at)`,
    [workspace.id, conversation.id, ids, times],
  );
  return conversation;
}

/**
 * Inserts an event of an age in days, and its delivery after two attempts, both with an answer. The event has
 * an audit entry if its data names an entity.
 * @returns the event's id
 */
export async function insertAnsweredEvent(
  host: MessagingHost,
  { id: tenantId }: { id: string },
  age: number,
  data: { conversationId: string } | { entity: string; entityId: string },
): Promise<string> {
  const at = new Date(Date.now() - age * DAY_MS);
  const [id, endpointId] = [newIdAt(at), newId()];
  const type = 'entity' in data ? 'audit.event' : 'conversation.updated';
  const delivery = [tenantId, deliveryIdOf(id, endpointId)];
  await host.query('INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, $3, $4, $5)', [
    tenantId,
    id,
    type,
    JSON.stringify(data),
    at,
  ]);
  if ('entity' in data)
    await host.query(
      `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, metadata, created_at)
       VALUES ($1, $2, 'something.changed', $3, $4, 'system', '{}', $5)`,
      [tenantId, id, data.entity, data.entityId, at],
    );
  await host.query(
    `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
       finished_at, response) VALUES ($1, $2, 1, $3, $4, $5, 'SUCCEEDED', 2, $6, 'answer')`,
    [...delivery, endpointId, id, type, at],
  );
  await host.query(
    `INSERT INTO webhook_attempts (tenant_id, delivery_id, round, attempt, response) VALUES ($1, $2, 1, 1, 'answer')`,
    delivery,
  );
  return id;
}

/** Returns a new id with this time. */
function newIdAt(time: Date): string {
  return idFloor(time).slice(0, 19) + newId().slice(19);
}
