import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Channel, describeChannel } from '../../common/channel-descriptors';
import { maxBytesOn, MEBIBYTE } from '../../common/file-limits';
import { newId } from '../../common/ids';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { FilesRepository } from '../files/files.repository';
import { FileSpace } from '../files/file-space';
import { CreateUpload, toUpload, UploadResponse } from './upload.dto';

/** Milliseconds within which an upload must get its content. */
export const CONTENT_MS = 3_600_000;

/** Owner of uploads: the agent, key or contact with this id. No other may use them. */
export interface Uploader {
  tenantId: string;
  uploader: string;
}

/** Limits of uploaders who are strangers to the workspace. */
export interface UploadLimits {
  /** Part of the workspace's space, from 0 to 1, up to which they may upload. */
  share: number;
  /** Number of uploads of one of them that no message has taken. */
  unused: number;
  /** Number of bytes of these uploads. */
  unusedBytes: number;
}

/** Adds uploads to a workspace. */
@Injectable()
export class UploadWriter {
  constructor(
    private readonly config: Config,
    private readonly files: FilesRepository,
    private readonly space: FileSpace,
  ) {}

  /**
   * Inserts an upload, and counts its bytes as used.
   * @param conversationId id of a conversation of the workspace; null for the first one of a visitor
   * @param limits null for those who belong to the workspace
   * @throws AppError PAYLOAD_TOO_LARGE
   */
  async insert(
    tx: Transaction,
    { tenantId, uploader }: Uploader,
    conversationId: string | null,
    channel: Channel,
    { name, contentType, size, sha256 }: Omit<CreateUpload, 'conversationId'>,
    limits: UploadLimits | null = null,
  ): Promise<UploadResponse> {
    requireAnyForm(channel, size);
    if (!(await this.space.reserve(tx, tenantId, size, limits?.share ?? 1)))
      throw filesFull(this.config.workspaceFileBytes!);
    // The workspace's row of usage is now locked, so that no other upload is counted at the same time.
    if (limits) await this.requireUnusedBelow(tx, { tenantId, uploader }, size, limits);
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

  private async requireUnusedBelow(
    tx: Transaction,
    { tenantId, uploader }: Uploader,
    size: number,
    { unused, unusedBytes }: UploadLimits,
  ): Promise<void> {
    const { count, bytes } = await this.files.countUnused(tx, tenantId, uploader);
    if (count < unused && bytes + size <= unusedBytes) return;
    const values = { count: unused, max: unusedBytes / MEBIBYTE };
    throw AppError.because('PAYLOAD_TOO_LARGE', 'uploads_unused', values);
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

function filesFull(bytes: number): AppError {
  return AppError.because('PAYLOAD_TOO_LARGE', 'files_full', { max: bytes / MEBIBYTE });
}
