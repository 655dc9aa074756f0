import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { Actor, actorIdOf } from '../../access/principal';
import { AppError } from '../../common/app-error';
import { Channel, describeChannel } from '../../common/channel-descriptors';
import { maxBytesOn } from '../../common/file-limits';
import { isId, newId } from '../../common/ids';
import { validate } from '../../common/validate';
import { Config } from '../../config/config';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { FileEntity } from '../files/file.entity';
import { FilesRepository } from '../files/files.repository';
import { FileUsageRepository } from '../files/file-usage.repository';
import { CreateUpload, toUpload, UploadResponse } from './upload.dto';

/** Milliseconds within which an upload must get its content. */
export const CONTENT_MS = 3_600_000;

/** Owner of uploads: the agent, key or contact with this id. No other may use them. */
export interface Uploader {
  tenantId: string;
  uploader: string;
}

/** Makes uploads, which messages then take as attachments. */
@Injectable()
export class UploadsService {
  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly files: FilesRepository,
    private readonly usage: FileUsageRepository,
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
        return this.insert(tx, { tenantId, uploader }, conversationId, conversation.sourceChannel, declared);
      });
    });
  }

  /**
   * Inserts an upload, and counts its bytes as used.
   * @param conversationId id of a conversation of the workspace; null for the first one of a visitor
   * @throws AppError PAYLOAD_TOO_LARGE
   */
  async insert(
    tx: Transaction,
    { tenantId, uploader }: Uploader,
    conversationId: string | null,
    channel: Channel,
    { name, contentType, size, sha256 }: Omit<CreateUpload, 'conversationId'>,
  ): Promise<UploadResponse> {
    requireAnyForm(channel, size);
    const { workspaceFileBytes } = this.config;
    if (!(await this.usage.add(tx, tenantId, size, workspaceFileBytes))) throw filesFull(workspaceFileBytes!);
    const file = {
      tenantId,
      id: newId(),
      conversationId,
      uploader,
      name: name.trim(),
      declaredType: contentType ?? null,
      declaredSha256: sha256 === undefined ? null : Buffer.from(sha256, 'hex'),
      size,
    };
    const times = await this.files.insert(tx, file, CONTENT_MS);
    return toUpload({ ...file, ...NO_FACTS, ...times });
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

const NO_FACTS = {
  kind: null,
  contentType: null,
  sha256: null,
  width: null,
  height: null,
  durationMs: null,
  scan: 'UNSCANNED',
  storedAt: null,
} as const;

function requireAnyForm(channel: Channel, size: number): void {
  const max = maxBytesOn(channel);
  if (size <= max) return;
  const values = { channel: describeChannel(channel).label, max };
  throw AppError.because('PAYLOAD_TOO_LARGE', 'too_large_for_channel', values);
}

/** Makes the error of a workspace whose files take up all of their space. */
export function filesFull(bytes: number): AppError {
  return AppError.because('PAYLOAD_TOO_LARGE', 'files_full', { max: bytes / 1024 / 1024 });
}
