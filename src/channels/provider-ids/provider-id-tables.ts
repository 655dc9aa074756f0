import { TableDeclaration } from '../../database/tables/table-declaration';
import { EarlyChangesRepository } from './early-changes.repository';
import { ProviderIdsRepository } from './provider-ids.repository';

/** Declares the tables of provider ids, and of receipts and changes that come before their message. */
export function providerIdTables(
  providerIds: ProviderIdsRepository,
  earlyChanges: EarlyChangesRepository,
): TableDeclaration[] {
  return [
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
