/** A table with rows of workspaces. */
export interface TenantTable {
  name: string;
  /** The columns of a unique key after `tenant_id`, each with its type. */
  key: Record<string, string>;
}

/**
 * Every table with a `tenant_id`, in the order in which a deleted workspace's rows go, but for those that go at its very
 * end: audit entries, the deletion, the workspace. A table stands before those that it refers to, and a queue before the
 * tables that its rows move to.
 */
export const TENANT_TABLES: TenantTable[] = [
  { name: 'api_keys', key: { id: 'uuid' } },
  { name: 'idempotency_keys', key: { key: 'text' } },
  { name: 'event_queue', key: { event_id: 'uuid' } },
  { name: 'parked_events', key: { event_id: 'uuid', consumer: 'text' } },
  { name: 'outbound_messages', key: { conversation_id: 'uuid', message_id: 'uuid' } },
  { name: 'early_receipts', key: { connection_id: 'uuid', provider_id: 'text', status: 'text' } },
  { name: 'provider_messages', key: { connection_id: 'uuid', provider_id: 'text' } },
  { name: 'webhook_recoveries', key: { id: 'uuid' } },
  { name: 'pending_deliveries', key: { id: 'uuid' } },
  { name: 'pending_cancellations', key: { endpoint_id: 'uuid', activation: 'integer' } },
  { name: 'webhook_attempts', key: { delivery_id: 'uuid', round: 'smallint', attempt: 'smallint' } },
  { name: 'webhook_deliveries', key: { id: 'uuid', round: 'smallint' } },
  { name: 'attempt_rollups', key: { endpoint_id: 'uuid', starts_at: 'timestamptz' } },
  { name: 'events', key: { id: 'uuid' } },
  { name: 'messages', key: { conversation_id: 'uuid', id: 'uuid' } },
  { name: 'conversations', key: { id: 'uuid' } },
  { name: 'contact_erasures', key: { id: 'uuid' } },
  { name: 'contact_identities', key: { channel: 'text', external_id: 'text' } },
  { name: 'contacts', key: { id: 'uuid' } },
  { name: 'webhook_endpoints', key: { id: 'uuid' } },
  { name: 'channel_connections', key: { id: 'uuid' } },
  { name: 'memberships', key: { agent_id: 'uuid' } },
  { name: 'invitations', key: { id: 'uuid' } },
  { name: 'agents', key: { id: 'uuid' } },
];

/** Never changed but by the deletion of their workspace: then they go last, when nothing else can write one. */
export const AUDIT_TABLE = 'audit_entries';
