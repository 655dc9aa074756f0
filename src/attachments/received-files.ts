import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { AttachmentProblem } from './attachment.entity';
import { AttachmentKey, AttachmentsRepository, NewAttachment } from './attachments.repository';
import { ExpectedFile, FileIntake } from './files/file-intake';
import { FilesRepository } from './files/files.repository';
import { FileSpace } from './files/file-space';
import { FileFacts } from './files/file.entity';
import { FileStore } from './store/file-store';

/** Milliseconds after which a file is deleted whose fetch was cut off. No fetch takes so long. */
const UNFINISHED_MS = 3_600_000;

/** Stores the files that the service fetches for attachments of customers' messages. */
@Injectable()
export class ReceivedFiles {
  constructor(
    private readonly database: Database,
    private readonly attachments: AttachmentsRepository,
    private readonly files: FilesRepository,
    private readonly space: FileSpace,
    private readonly intake: FileIntake,
    private readonly fileStore: FileStore,
    private readonly outbox: OutboxService,
  ) {}

  /**
   * Stores the bytes of an attachment and makes it READY, with an event. Does nothing if the attachment does
   * not wait for bytes, because its message was erased or another worker was faster.
   * @param conclude called in the transaction that makes the attachment READY
   * @throws FileRefused if the bytes are not as expected; the error of the source or of the store
   */
  async store(
    key: AttachmentKey,
    source: Readable,
    expected: ExpectedFile & { name: string; durationMs: number | null },
    conclude?: (tx: Transaction) => Promise<void>,
  ): Promise<'stored' | 'full' | 'ended'> {
    const { tenantId } = key;
    const id = newId();
    const { name, contentType: declaredType, sha256: declaredSha256 = null } = expected;
    const { durationMs } = expected;
    const of = { tenantId, id, conversationId: null, uploader: null };
    await this.database.transaction((tx) =>
      this.files.insert(tx, { ...of, name, declaredType, declaredSha256, size: 0 }, UNFINISHED_MS),
    );
    const facts = await this.intake.take({ tenantId, fileId: id }, source, expected);
    const end = await this.database.transaction((tx) =>
      this.finish(tx, key, { fileId: id, name }, { ...facts, durationMs }, conclude),
    );
    if (end !== 'stored') {
      await this.database.transaction((tx) => this.files.release(tx, tenantId, [id]));
      // The row may be gone with its workspace, so that nothing else would remove the bytes.
      await this.fileStore.remove({ tenantId, fileId: id });
    }
    return end;
  }

  /** Makes a PENDING attachment FAILED, with an event. Does nothing to any other. */
  async fail(tx: Transaction, key: AttachmentKey, problem: AttachmentProblem): Promise<void> {
    const attachment = await this.attachments.lock(tx, key);
    if (attachment?.state !== 'PENDING') return;
    await this.attachments.setProblem(tx, key, problem);
    this.report(tx, attachment, 'FAILED', attachment.kind);
  }

  /**
   * Makes a FAILED attachment PENDING again, with an event.
   * @returns false if it is not FAILED
   */
  async reopen(tx: Transaction, key: AttachmentKey): Promise<boolean> {
    const attachment = await this.attachments.lock(tx, key);
    if (attachment?.state !== 'FAILED') return false;
    await this.attachments.setProblem(tx, key, null);
    this.report(tx, attachment, 'PENDING', attachment.kind);
    return true;
  }

  private async finish(
    tx: Transaction,
    key: AttachmentKey,
    file: { fileId: string; name: string },
    facts: FileFacts & { durationMs: number | null },
    conclude?: (tx: Transaction) => Promise<void>,
  ): Promise<'stored' | 'full' | 'ended'> {
    const { tenantId } = key;
    const attachment = await this.attachments.lock(tx, key);
    if (attachment?.state !== 'PENDING') return 'ended';
    if (!(await this.space.reserve(tx, tenantId, facts.size))) return 'full';
    if (!(await this.files.setStored(tx, { tenantId, fileId: file.fileId }, facts, null))) {
      await this.space.release(tx, tenantId, facts.size);
      return 'ended';
    }
    await this.files.keep(tx, tenantId, [file.fileId]);
    await this.attachments.setReady(tx, key, file, facts);
    this.report(tx, attachment, 'READY', facts.kind);
    await conclude?.(tx);
    return 'stored';
  }

  private report(
    tx: Transaction,
    { tenantId, conversationId, messageId, id: attachmentId }: NewAttachment,
    state: 'READY' | 'FAILED' | 'PENDING',
    kind: FileFacts['kind'],
  ): void {
    const data = { conversationId, messageId, attachmentId, kind, state };
    this.outbox.appendPipelined(tx, tenantId, 'attachment.updated', data);
  }
}
