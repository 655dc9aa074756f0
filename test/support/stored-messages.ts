import { idFloor, newId } from '../../src/common/ids';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { MessagingHost } from './messaging-host';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Inserts messages as the service stores them, without their way through the queue. */
export async function insertMessages(
  host: MessagingHost,
  tenantId: string,
  conversationId: string,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, newId);
  await host.query(
    `WITH message AS (
       INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
       SELECT $1, $2, id, 'CUSTOMER', 'many words', now() FROM unnest($3::uuid[]) AS id
     )
     INSERT INTO events (tenant_id, id, type, data, created_at)
     SELECT $1, id, 'message.created', json_build_object('conversationId', $2::text, 'message', json_build_object(
       'id', id, 'body', 'many words', 'senderType', 'CUSTOMER', 'createdAt', now())), now()
     FROM unnest($3::uuid[]) AS id`,
    [tenantId, conversationId, ids],
  );
}

/** Makes a conversation with messages of these ages in days, oldest first. */
export async function makeOldConversation(
  host: MessagingHost,
  workspace: { id: string },
  ages: number[],
): Promise<ConversationDetail> {
  const conversation = await host.make.conversation(workspace);
  const times = ages.map((age) => new Date(Date.now() - age * DAY_MS));
  // Ids begin with the time; the rest of each is that of a new id.
  const ids = times.map((time) => idFloor(time).slice(0, 19) + newId().slice(19));
  await host.query('UPDATE conversations SET id = $3 WHERE tenant_id = $1 AND id = $2', [
    workspace.id,
    conversation.id,
    (conversation.id = idFloor(new Date(times[0]!.getTime() - DAY_MS)).slice(0, 19) + newId().slice(19)),
  ]);
  await host.query(
    `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
     SELECT $1, $2, id, 'CUSTOMER', 'words', at FROM unnest($3::uuid[], $4::timestamptz[]) AS m (id, at)`,
    [workspace.id, conversation.id, ids, times],
  );
  return conversation;
}
