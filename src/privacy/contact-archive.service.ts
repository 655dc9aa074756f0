import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Actor } from '../access/principal';
import { AttachmentEntity } from '../attachments/attachment.entity';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { FileMissing, FileStore } from '../attachments/store/file-store';
import { LOWEST_ID } from '../common/ids';
import { ZipEntry, zipArchive } from '../common/zip-archive';
import { ContactConversationsRepository } from '../conversations/contact-conversations.repository';
import { Database } from '../database/database';
import { WorkBudgets } from '../http/limits/work-budgets';
import { ContactExportLine, ContactExportService } from './contact-export.service';

const PAGE = 200;
const MAX_NAME_CHARACTERS = 100;
/** Characters that a path of an archive may not have on some system. */
const UNSAFE = /[\p{Cc}\p{Cf}\\/:*?"<>|]/gu;

/** Exports the data of a person together with the files of their conversations. */
@Injectable()
export class ContactArchiveService {
  constructor(
    private readonly database: Database,
    private readonly exports: ContactExportService,
    private readonly conversations: ContactConversationsRepository,
    private readonly attachments: AttachmentsRepository,
    private readonly store: FileStore,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Yields a ZIP archive: the lines of `ContactExportService.export` as `contact.jsonl`, and each stored file
   * as `files/<id of its attachment> <name>`. It reads on when the consumer needs more, one file at a time.
   * Names attachments whose bytes the store does not hold in `missing.txt`. Each read of the database takes a
   * slot for requests, and so a caller must not hold one.
   * @throws AppError as ContactExportService.export, before the first byte; RATE_LIMITED, UNAVAILABLE
   */
  async *export(tenantId: string, id: string, actor: Actor): AsyncGenerator<Buffer, void> {
    const lines = this.exports.export(tenantId, id, actor);
    const first = await this.inSlot(tenantId, () => lines.next());
    if (first.done) return;
    // The id of the contact, which is another one than was asked for if that one was merged.
    const contactId = 'id' in first.value ? first.value.id : id;
    yield* zipArchive(this.listEntries({ tenantId, contactId }, first.value, lines));
  }

  private async *listEntries(
    contact: { tenantId: string; contactId: string },
    first: ContactExportLine,
    others: AsyncGenerator<ContactExportLine>,
  ): AsyncGenerator<ZipEntry> {
    yield { path: 'contact.jsonl', content: this.readLines(contact.tenantId, first, others) };
    const missing: string[] = [];
    for await (const attachment of this.listStored(contact)) {
      const content = await this.open(attachment);
      if (content) yield { path: `files/${attachment.id} ${safeName(attachment.name)}`, content };
      else missing.push(`${attachment.id}\n`);
    }
    if (missing.length > 0)
      yield { path: 'missing.txt', content: Readable.from([Buffer.from(missing.join(''))]) };
  }

  private async *readLines(
    tenantId: string,
    first: ContactExportLine,
    others: AsyncGenerator<ContactExportLine>,
  ): AsyncGenerator<Buffer> {
    let lines = [first];
    for (; lines.length > 0; lines = await this.inSlot(tenantId, () => readPage(others)))
      yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  private async *listStored(contact: {
    tenantId: string;
    contactId: string;
  }): AsyncGenerator<AttachmentEntity> {
    const { tenantId } = contact;
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const page: string[] = await this.inSlot(tenantId, () =>
        this.conversations.listByContact(this.database, contact, after!, PAGE),
      );
      for (const conversationId of page) yield* this.listOfConversation({ tenantId, conversationId });
      after = page.length < PAGE ? undefined : page.at(-1);
    }
  }

  private async *listOfConversation(key: {
    tenantId: string;
    conversationId: string;
  }): AsyncGenerator<AttachmentEntity> {
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const page: AttachmentEntity[] = await this.inSlot(key.tenantId, () =>
        this.attachments.listStored(key, after!, PAGE),
      );
      yield* page;
      after = page.length < PAGE ? undefined : page.at(-1)!.messageId;
    }
  }

  private async open({ tenantId, fileId }: AttachmentEntity): Promise<Readable | null> {
    try {
      return await this.store.open({ tenantId, fileId: fileId! });
    } catch (error) {
      if (error instanceof FileMissing) return null;
      throw error;
    }
  }

  private async inSlot<T>(tenantId: string, read: () => Promise<T>): Promise<T> {
    const release = await this.budgets.acquire('requests', tenantId);
    try {
      return await read();
    } finally {
      release();
    }
  }
}

async function readPage(lines: AsyncGenerator<ContactExportLine>): Promise<ContactExportLine[]> {
  const page: ContactExportLine[] = [];
  while (page.length < PAGE) {
    const line = await lines.next();
    if (line.done) break;
    page.push(line.value);
  }
  return page;
}

function safeName(name: string | null): string {
  const safe = (name ?? '').replace(UNSAFE, '_').replace(/^\.+|\.+$/g, '');
  return [...safe].slice(-MAX_NAME_CHARACTERS).join('') || 'file';
}
