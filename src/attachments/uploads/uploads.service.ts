import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { Actor, actorIdOf } from '../../access/principal';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { validate } from '../../common/validate';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { FileEntity } from '../files/file.entity';
import { FilesRepository } from '../files/files.repository';
import { CreateUpload, toUpload, UploadResponse } from './upload.dto';
import { Uploader, UploadWriter } from './upload-writer';

/** Makes uploads, which messages then take as attachments. */
@Injectable()
export class UploadsService {
  constructor(
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly files: FilesRepository,
    private readonly writer: UploadWriter,
    private readonly idempotency: IdempotencyService,
  ) {}

  /**
   * Makes an upload for a message of a conversation. Its content has to follow within an hour.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND, IDEMPOTENCY_CONFLICT; PAYLOAD_TOO_LARGE: the
   *   conversation's channel takes no file of this size, or the workspace's files take up all of their space
   */
  async create(
    tenantId: string,
    input: CreateUpload,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<UploadResponse> {
    const { conversationId, ...declared } = validate(CreateUpload, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'message.send');
      return this.idempotency.once(tx, { tenantId, conversationId }, request, async () => {
        const conversation = await this.conversations.find(tenantId, conversationId, tx);
        if (!conversation) throw AppError.notFound('Conversation');
        const uploader = actorIdOf(actor);
        return this.writer.insert(
          tx,
          { tenantId, uploader },
          conversationId,
          conversation.sourceChannel,
          declared,
        );
      });
    });
  }

  /**
   * Returns an upload.
   * @throws AppError NOT_FOUND
   */
  async get(of: Uploader, id: string): Promise<UploadResponse> {
    return toUpload(await this.require(of, id));
  }

  /**
   * Deletes an upload that no message has taken.
   * @throws AppError NOT_FOUND; CONFLICT: a message has taken it
   */
  async delete({ tenantId, uploader }: Uploader, id: string): Promise<void> {
    if (!isId(id)) throw AppError.notFound('Upload');
    await this.database.transaction(async (tx) => {
      const [file] = await this.files.lock(tx, tenantId, [id]);
      if (file?.uploader !== uploader || file.isDue) throw AppError.notFound('Upload');
      if (file.deleteAt === null) throw AppError.because('CONFLICT', 'upload_taken');
      await this.files.release(tx, tenantId, [id]);
    });
  }

  /**
   * Returns an upload with all that is known of it.
   * @throws AppError NOT_FOUND
   * @internal
   */
  async require({ tenantId, uploader }: Uploader, id: string): Promise<FileEntity> {
    const file = isId(id) ? await this.files.find(tenantId, id) : null;
    if (file?.uploader !== uploader) throw AppError.notFound('Upload');
    return file;
  }
}
