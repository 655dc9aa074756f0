/** SQL condition: the lease of row `d` of `outbound_messages` has expired, or `d` is an expired hold. */
export const HAS_ENDED = '(d.lease_id IS NOT NULL OR d.holds) AND d.next_attempt_at <= now()';

/** SQL that selects the id of a conversation's first unsent message. */
export const firstUnsent = (conversationId: string, tenantId = '$1') => `
  SELECT m.id FROM messages m
  WHERE m.tenant_id = ${tenantId} AND m.conversation_id = ${conversationId} AND m.delivery_status IN ('QUEUED', 'SENDING')
  ORDER BY m.id LIMIT 1`;

/** SQL condition: the conversation's channel is or was connected. Only then can it have outbound messages. */
export const wasConnected = (conversationId: string, tenantId = '$1') => `EXISTS (
  SELECT FROM conversations v JOIN channel_connections w ON w.channel = v.source_channel
  WHERE v.tenant_id = ${tenantId} AND v.id = ${conversationId} AND w.tenant_id = ${tenantId})`;

/**
 * SQL that selects when the last of the holds before a message ends; null if there are none. After a message
 * was sent, or may have been, its row can become a hold. It delays the conversation's later messages.
 */
export const endOfHolds = (conversationId: string, messageId: string, tenantId = '$1') => `
  SELECT max(h.next_attempt_at) FROM outbound_messages h
  WHERE h.tenant_id = ${tenantId} AND h.conversation_id = ${conversationId} AND h.message_id < ${messageId} AND h.holds`;

/** SQL of the recipient's id: the one in conversation `c`, or the contact's latest if `c` has none. */
export const recipientOf = (tenantId = '$1') => `
  coalesce(c.identity_external_id, (
    SELECT i.external_id FROM contact_identities i
    WHERE i.tenant_id = ${tenantId} AND i.contact_id = c.contact_id AND i.channel = c.source_channel
    ORDER BY i.replaced_at IS NOT NULL, i.created_at DESC, i.external_id LIMIT 1))`;

/** SQL that joins the connection `w`, if there is one, over which conversation `c` sends. */
export const routeOf = (tenantId = '$1') => `
  LEFT JOIN channel_connections w
    ON w.tenant_id = ${tenantId} AND w.channel = c.source_channel AND w.status <> 'DISCONNECTED'`;

/**
 * SQL of the code with which messages of conversation `c` fail over connection `w`; null if they can be sent.
 */
export const routeFault = (tenantId = '$1') => `
  CASE WHEN w.id IS NULL THEN 'NO_CONNECTION' WHEN w.status <> 'ACTIVE' THEN 'REAUTH_REQUIRED'
       WHEN ${recipientOf(tenantId)} IS NULL THEN 'NO_RECIPIENT' END`;
