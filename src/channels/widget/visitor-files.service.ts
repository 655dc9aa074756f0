import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AttachmentsRepository } from '../../attachments/attachments.repository';
import { AttachmentContents } from '../../attachments/contents/attachment-contents';
import { UploadResponse } from '../../attachments/uploads/upload.dto';
import { UploadContents } from '../../attachments/uploads/upload-contents';
import { UploadLimits, UploadWriter } from '../../attachments/uploads/upload-writer';
import { UploadsService } from '../../attachments/uploads/uploads.service';
import { AppError } from '../../common/app-error';
import { MEBIBYTE } from '../../common/file-limits';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { uploaderOf, Visitor, VisitorRequest, Widget } from './visitor';
import { VisitorsRepository } from './visitors.repository';
import { CreateVisitorUpload } from './widget.dto';

/**
 * Limits of a visitor's uploads. The share leaves the rest of the space to agents and to received files. The
 * number of unused uploads is enough for two messages, and their bytes for ten of the largest files: one
 * visitor can't keep others out by uploads that no message takes.
 */
const VISITORS_LIMITS: UploadLimits = { share: 0.9, unused: 20, unusedBytes: 250 * MEBIBYTE };

/** Receives visitors' uploads, and sends the bytes of the files in their conversations. */
@Injectable()
export class VisitorFilesService {
  constructor(
    private readonly database: Database,
    private readonly visitors: VisitorsRepository,
    private readonly uploads: UploadsService,
    private readonly uploadWriter: UploadWriter,
    private readonly uploadContents: UploadContents,
    private readonly attachments: AttachmentsRepository,
    private readonly contents: AttachmentContents,
  ) {}

  /**
   * Makes an upload for a visitor's message. Its content has to follow within an hour.
   * @throws AppError NOT_FOUND: the widget is disconnected; PAYLOAD_TOO_LARGE: the file is too large, or the
   *   visitor or the workspace has no room for it
   */
  async create(widget: Widget, visitor: Visitor, upload: CreateVisitorUpload): Promise<UploadResponse> {
    const conversationId = await this.findConversation(widget, visitor);
    return this.database.transaction((tx) =>
      this.uploadWriter.insert(
        tx,
        ownerOf(widget, visitor),
        conversationId,
        'WIDGET',
        upload,
        VISITORS_LIMITS,
      ),
    );
  }

  /**
   * Stores the body of a request as the content of an upload. A repeated request gets the first answer again.
   * @throws AppError as `UploadContents.putOfVisitor`
   */
  putContent(id: string, request: VisitorRequest): Promise<UploadResponse> {
    const { widget, visitor, releaseSlot } = request;
    // Slots for the widget's requests are few, and a slow client may need half an hour.
    releaseSlot();
    return this.uploadContents.putOfVisitor(ownerOf(widget, visitor), id, request);
  }

  /**
   * Deletes an upload that no message has taken.
   * @throws AppError NOT_FOUND; CONFLICT: a message has taken it
   */
  delete(widget: Widget, visitor: Visitor, id: string): Promise<void> {
    return this.uploads.delete(ownerOf(widget, visitor), id);
  }

  /**
   * Sends the bytes of a file in the visitor's conversation, or the part that the request asks for.
   * @throws AppError NOT_FOUND; RANGE_NOT_SATISFIABLE; RATE_LIMITED, UNAVAILABLE
   */
  async sendContent(id: string, request: VisitorRequest, response: Response): Promise<void> {
    const { widget, visitor, releaseSlot } = request;
    const conversationId = await this.findConversation(widget, visitor);
    const key = { tenantId: widget.tenantId, attachmentId: id };
    const attachment = conversationId && isId(id) ? await this.attachments.find(key) : null;
    if (attachment?.conversationId !== conversationId) throw AppError.notFound('Attachment');
    releaseSlot();
    return this.contents.send(attachment, request, response);
  }

  private async findConversation({ tenantId, id }: Widget, { externalId }: Visitor): Promise<string | null> {
    const state = await this.visitors.findState({ tenantId, connectionId: id, externalId });
    if (!state) throw AppError.notFound('Widget');
    return state.conversationId;
  }
}

function ownerOf(widget: Widget, { externalId }: Visitor): { tenantId: string; uploader: string } {
  return { tenantId: widget.tenantId, uploader: uploaderOf(widget, externalId) };
}
