import { TableDeclaration } from '../database/tables/table-declaration';
import { AttachmentsRepository } from './attachments.repository';
import { FilesRepository } from './files/files.repository';

const WITH_MESSAGES = { none: 'A message is exported with its attachments.' };

export function attachmentTables(
  attachments: AttachmentsRepository,
  files: FilesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'attachments',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['messages', 'files'] },
      erasure: {
        eraseMessages: async (tx, erased) => {
          const fileIds = await attachments.erase(tx, erased);
          if (fileIds.length > 0) await files.release(tx, erased.tenantId, fileIds);
          return 0;
        },
      },
      export: WITH_MESSAGES,
      retention: { none: 'It goes with the text of its message.' },
    },
    {
      name: 'files',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      // The erasure of its attachment lets a file be deleted. Uploads without a message are erased here.
      erasure: {
        eraseCopies: async (tx, erased) => {
          if (erased.withContact) await files.releaseUploads(tx, erased);
        },
      },
      export: WITH_MESSAGES,
      retention: { none: 'FileDeleter deletes a file, with its bytes, at the time that the row has.' },
    },
    {
      name: 'file_stores',
      key: { is_only: 'boolean' },
      placement: 'coordinator',
      deletion: { none: 'Its row belongs to no workspace.' },
      erasure: { none: 'It has a random id alone.' },
      export: { none: 'It has a random id alone.' },
      retention: { none: 'Its only row stays.' },
    },
    {
      name: 'file_usage',
      key: { tenant_id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: { none: 'It has a number alone.' },
      export: { none: 'It has a number alone.' },
      retention: { none: 'A workspace has one row.' },
    },
  ];
}
