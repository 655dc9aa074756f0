import { TableDeclaration } from '../database/tables/table-declaration';
import { OutboundMessagesRepository } from './outbound/outbound-messages.repository';
import { EarlyChangesRepository } from './provider-ids/early-changes.repository';
import { ProviderIdsRepository } from './provider-ids/provider-ids.repository';

const OF_THE_WORKSPACE = { none: "It names the workspace's own account, and no contact." };

export function channelTables(
  messages: OutboundMessagesRepository,
  providerIds: ProviderIdsRepository,
  earlyChanges: EarlyChangesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'channel_connections',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: OF_THE_WORKSPACE,
      export: OF_THE_WORKSPACE,
      retention: { none: 'Ids of messages refer to a connection, also to one that was disconnected.' },
      secrets: ['credentials'],
    },
    {
      name: 'hook_keys',
      key: { hook_key: 'text' },
      placement: 'coordinator',
      deletion: { before: ['channel_connections'] },
      erasure: OF_THE_WORKSPACE,
      export: OF_THE_WORKSPACE,
      retention: { none: 'A row goes when its connection is disconnected.' },
    },
    {
      name: 'connected_accounts',
      key: { channel: 'text', external_id: 'text' },
      placement: 'coordinator',
      deletion: { before: ['channel_connections'] },
      erasure: OF_THE_WORKSPACE,
      export: OF_THE_WORKSPACE,
      retention: { none: 'A row goes when its connection is disconnected.' },
    },
    {
      name: 'outbound_messages',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', message_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['messages', 'channel_connections'], after: ['event_queue', 'parked_events'] },
      erasure: { cancel: (tx, erased) => messages.cancel(tx, erased) },
      export: { none: 'It says no more than the status of its message.' },
      retention: { none: 'A row goes when its message is sent or has failed.' },
    },
    {
      name: 'provider_messages',
      key: { tenant_id: 'uuid', connection_id: 'uuid', provider_id: 'text' },
      placement: 'workspace',
      deletion: { before: ['messages', 'channel_connections'], after: ['outbound_messages'] },
      erasure: { eraseCopies: (tx, messages) => providerIds.erase(tx, messages) },
      export: { none: 'It says no more than the message and its conversation.' },
      retention: {
        among: `provider_id LIKE 'erased:%'`,
        age: 'created_at',
        keptHours: 'history',
        guard: `NOT EXISTS (SELECT FROM outbound_messages d WHERE d.tenant_id = t.tenant_id
          AND d.conversation_id = t.conversation_id AND d.message_id = t.message_id)`,
      },
    },
    {
      name: 'early_receipts',
      key: { tenant_id: 'uuid', connection_id: 'uuid', provider_id: 'text', status: 'text' },
      placement: 'workspace',
      deletion: { before: ['channel_connections'] },
      erasure: { none: 'It names no message of the service, and is gone after a day.' },
      export: { none: 'It names no message of the service.' },
      retention: { age: 'created_at', keptHours: 24 },
    },
    {
      name: 'early_changes',
      key: { tenant_id: 'uuid', connection_id: 'uuid', provider_id: 'text', customer_id: 'text' },
      placement: 'workspace',
      deletion: { before: ['channel_connections'] },
      erasure: {
        eraseContact: (tx, contact, count) => earlyChanges.erase(tx, contact, count),
      },
      export: { none: 'It waits for its message or its customer, and then is the message or gone.' },
      retention: { age: 'created_at', keptHours: 'history' },
    },
  ];
}
