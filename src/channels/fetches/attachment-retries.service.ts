import { Injectable } from '@nestjs/common';
import { Actor } from '../../access/principal';
import { requirePermission } from '../../access/require-permission';
import { AttachmentResponse, toAttachment } from '../../attachments/attachment.dto';
import { AttachmentsRepository } from '../../attachments/attachments.repository';
import { ReceivedFiles } from '../../attachments/received-files';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { AttachmentFetchesRepository } from './attachment-fetches.repository';

/** Has files of customers' messages fetched once more. */
@Injectable()
export class AttachmentRetriesService {
  constructor(
    private readonly database: Database,
    private readonly attachments: AttachmentsRepository,
    private readonly fetches: AttachmentFetchesRepository,
    private readonly files: ReceivedFiles,
  ) {}

  /**
   * Has the file of a FAILED attachment fetched once more. Does nothing to one that is PENDING or READY.
   * @throws AppError FORBIDDEN, NOT_FOUND; CONFLICT: the provider does not hand out the file any more
   */
  async retry(tenantId: string, id: string, actor: Actor): Promise<AttachmentResponse> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'message.send');
      const key = { tenantId, attachmentId: id };
      const attachment = isId(id) ? await this.attachments.find(key, tx) : null;
      if (!attachment) throw AppError.notFound('Attachment');
      if (attachment.state === 'FAILED') {
        if (!(await this.fetches.restart(tx, key))) throw AppError.because('CONFLICT', 'file_gone');
        await this.files.reopen(tx, key);
      } else if (attachment.state === 'LINK_ONLY') throw AppError.because('CONFLICT', 'file_not_copied');
      return toAttachment((await this.attachments.find(key, tx))!);
    });
  }
}
