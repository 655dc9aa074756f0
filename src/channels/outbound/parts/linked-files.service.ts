import { Injectable } from '@nestjs/common';
import { AttachmentEntity } from '../../../attachments/attachment.entity';
import { AttachmentsRepository } from '../../../attachments/attachments.repository';
import { AppError } from '../../../common/app-error';
import { Database } from '../../../database/database';
import { FileLinks } from './file-links';

/** Finds the files of links that providers fetch. */
@Injectable()
export class LinkedFilesService {
  constructor(
    private readonly links: FileLinks,
    private readonly attachments: AttachmentsRepository,
    private readonly database: Database,
  ) {}

  /**
   * Returns the attachment that a link's token names.
   * @throws AppError NOT_FOUND if the token is not genuine or has expired, or the file is gone
   */
  async require(token: string): Promise<AttachmentEntity> {
    const linked = this.links.read(token);
    const found =
      linked &&
      (await this.database.placement.forWorkspace(linked.tenantId, () => this.attachments.find(linked)));
    if (!found) throw AppError.notFound('File');
    return found;
  }
}
