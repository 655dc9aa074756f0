import { Chat, ConnectedWorkspace } from './connected-workspace';
import { TestService } from './service';

/** Inserts routed messages of one conversation, of which all but the first wait. */
export async function insertRouted(
  service: TestService,
  { workspace, connection }: ConnectedWorkspace,
  chat: Chat,
  count: number,
): Promise<void> {
  const first = await chat.send('first');
  await service.query(
    `WITH copied AS (
       INSERT INTO messages
         (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
       SELECT tenant_id, conversation_id,
         (substr(id::text, 1, 19) || 'bfff-' || lpad(to_hex(n), 12, '0'))::uuid, sender_type, sender_agent_id, body,
         delivery_status, created_at
       FROM messages, generate_series(1, $3) n WHERE id = $1 RETURNING *
     ), routed AS (
       SELECT tenant_id, conversation_id, id, false AS waits FROM messages WHERE id = $1
       UNION ALL SELECT tenant_id, conversation_id, id, true FROM copied
     )
     INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, waits, next_attempt_at)
     SELECT tenant_id, conversation_id, id, $2, waits, now() FROM routed`,
    [first.id, connection.id, count - 1],
  );
  await service.query('DELETE FROM event_queue WHERE tenant_id = $1', [workspace.id]);
}

/** Returns how many messages of a workspace have failed without a connection. */
export async function countUnconnected(
  service: TestService,
  { workspace }: ConnectedWorkspace,
): Promise<number> {
  const [row] = await service.query<{ count: number }>(
    `SELECT count(*)::integer FROM messages
     WHERE tenant_id = $1 AND delivery_status = 'FAILED' AND delivery_error->>'code' = 'NO_CONNECTION'`,
    [workspace.id],
  );
  return row!.count;
}
