import { TableDeclaration } from '../../../database/tables/table-declaration';
import { MessagePartsRepository } from './message-parts.repository';
import { ProviderFilesRepository } from './provider-files.repository';

export function partTables(
  parts: MessagePartsRepository,
  providerFiles: ProviderFilesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'message_parts',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', message_id: 'uuid', position: 'smallint' },
      placement: 'workspace',
      deletion: { before: ['messages'], after: ['outbound_messages'] },
      erasure: {
        eraseCopies: async (tx, erased) => {
          const fileIds = await parts.erase(tx, erased);
          if (fileIds.length > 0) await providerFiles.deleteOfFiles(tx, erased.tenantId, fileIds);
        },
      },
      export: { none: 'It says no more than the message, its attachments and their status.' },
      retention: { none: 'It goes with the text of its message.' },
    },
    {
      name: 'provider_files',
      key: { tenant_id: 'uuid', connection_id: 'uuid', file_id: 'uuid', form: 'text' },
      placement: 'workspace',
      deletion: { before: ['channel_connections'], after: ['outbound_messages'] },
      erasure: { none: 'The erasure of the parts that sent a file deletes its references.' },
      export: { none: 'It names a file by the id of a provider.' },
      retention: { age: 'expires_at', keptHours: 1 },
    },
  ];
}
