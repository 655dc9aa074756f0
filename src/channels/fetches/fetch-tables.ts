import { AttachmentsRepository } from '../../attachments/attachments.repository';
import { TableDeclaration } from '../../database/tables/table-declaration';
import { AttachmentFetchesRepository } from './attachment-fetches.repository';

export function fetchTables(
  fetches: AttachmentFetchesRepository,
  attachments: AttachmentsRepository,
): TableDeclaration[] {
  return [
    {
      name: 'attachment_fetches',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['channel_connections'], after: ['attachments'] },
      erasure: {
        cancel: async (tx, { tenantId, conversationId, ids }) => {
          await fetches.deleteAll(
            tx,
            tenantId,
            await attachments.listIds(tx, { tenantId, conversationId }, ids),
          );
          return [];
        },
      },
      export: { none: 'It has a reference to a file, which is exported once it is stored.' },
      // WhatsApp hands out a file for seven days; the others do so for less. A fetch that is due stays,
      // because its tries end by themselves, and only a try can end the wait of its attachment.
      retention: { age: 'created_at', keptHours: 7 * 24, guard: 't.due_at IS NULL' },
      secrets: ['reference'],
    },
  ];
}
