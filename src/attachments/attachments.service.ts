import { Injectable } from '@nestjs/common';
import { Actor } from '../access/principal';
import { requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Database } from '../database/database';
import { AttachmentResponse, toAttachment } from './attachment.dto';
import { AttachmentEntity } from './attachment.entity';
import { AttachmentsRepository } from './attachments.repository';

/** Reads attachments of messages. */
@Injectable()
export class AttachmentsService {
  constructor(
    private readonly database: Database,
    private readonly attachments: AttachmentsRepository,
  ) {}

  /**
   * Returns an attachment.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<AttachmentResponse> {
    return toAttachment(await this.require(tenantId, id, actor));
  }

  /**
   * Returns an attachment with all that is known of it.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async require(tenantId: string, id: string, actor: Actor): Promise<AttachmentEntity> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const attachment = isId(id) ? await this.attachments.find({ tenantId, attachmentId: id }) : null;
    if (!attachment) throw AppError.notFound('Attachment');
    return attachment;
  }
}
