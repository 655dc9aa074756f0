import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { randomBytes } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { SYSTEM } from '../../src/access/principal';
import { FileStore } from '../../src/attachments/store/file-store';
import { UploadContents } from '../../src/attachments/uploads/upload-contents';
import { UploadsService } from '../../src/attachments/uploads/uploads.service';
import { newId } from '../../src/common/ids';
import { ZipEntry, zipArchive } from '../../src/common/zip-archive';
import { SendReply } from '../../src/messages/message.dto';
import { MessagesService } from '../../src/messages/messages.service';
import { ContactArchiveService } from '../../src/privacy/contact-archive.service';
import { ContactExportService } from '../../src/privacy/contact-export.service';
import { MessagingHost } from '../support/messaging-host';
import { unzip } from '../support/unzip';
import { letTimePass, waitFor } from '../support/wait';

describe('an archive', () => {
  const zip = (...given: ZipEntry[]) =>
    buffer(Readable.from(zipArchive(Readable.from(given) as AsyncIterable<ZipEntry>)));

  it('has its files, whatever their names and sizes', async () => {
    const large = randomBytes(3_000_000);
    const archive = await zip(
      { path: 'a/größe 👋.txt', content: Readable.from([Buffer.from('one'), Buffer.from('two')]) },
      { path: 'empty', content: Readable.from([]) },
      { path: 'large', content: Readable.from([large.subarray(0, 5), large.subarray(5)]) },
    );
    const { large: unpacked, ...others } = unzip(archive);
    expect(others).toEqual({ 'a/größe 👋.txt': Buffer.from('onetwo'), empty: Buffer.alloc(0) });
    expect(unpacked!.equals(large)).toBe(true);
    expect(unzip(await zip())).toEqual({});
  });

  it('fails with the error of a file', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        await Promise.resolve();
        throw new Error('the store is away');
      })(),
    );
    await expect(zip({ path: 'x', content: failing })).rejects.toThrow('the store is away');
  });

  it('reads no faster than it is read', async () => {
    let made = 0;
    const endless = Readable.from(
      (async function* () {
        for (; made < 2_000; made++) yield randomBytes(65_536);
        await Promise.resolve();
      })(),
    );
    const archive = zipArchive(Readable.from([{ path: 'x', content: endless }]));
    for (let n = 0; n < 10; n++) await archive.next();
    await letTimePass(50);
    expect(made).toBeLessThan(60);
    await archive.return(undefined);
    await waitFor('the source to be closed', () => endless.destroyed);
  });
});

describe('the archive of a contact', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  it('has the lines of the export, and the files of the contact alone', async () => {
    const workspace = await host.make.workspace();
    const agent = { type: 'agent' as const, id: (await host.make.agent(workspace)).id };
    const contact = await host.make.contact(workspace, { name: 'Zoë' });
    const conversation = await host.make.conversation(workspace, { contactId: contact.id });
    const other = await host.make.conversation(workspace);
    const send = async (conversationId: string, files: [string, string][]) => {
      const attachments = [];
      for (const [name, text] of files) {
        const upload = { conversationId, name, size: text.length };
        const { id } = await host.get(UploadsService).create(workspace.id, upload, agent);
        const owner = { tenantId: workspace.id, uploader: agent.id };
        const content = Readable.from([Buffer.from(text)]);
        await host.get(UploadContents).storeUnsized(owner, id, content, new AbortController().signal);
        attachments.push({ uploadId: id });
      }
      const reply = { attachments } as SendReply;
      return (await host.get(MessagesService).send(workspace.id, conversationId, reply, agent)).message;
    };
    const sent = await send(conversation.id, [
      ['../a/b.txt', 'first'],
      ['same.txt', 'second'],
      ['same.txt', 'third'],
    ]);
    await send(other.id, [['c.txt', 'of somebody else']]);
    const [first, second, third] = sent.attachments.map(({ id }) => id);

    const archive = () =>
      buffer(Readable.from(host.get(ContactArchiveService).export(workspace.id, contact.id, SYSTEM)));
    const files = unzip(await archive());
    const lines: string[] = [];
    for await (const line of host.get(ContactExportService).export(workspace.id, contact.id, SYSTEM))
      lines.push(`${JSON.stringify(line)}\n`);
    expect(
      Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.toString()])),
    ).toEqual({
      'contact.jsonl': lines.join(''),
      [`files/${first} _a_b.txt`]: 'first',
      [`files/${second} same.txt`]: 'second',
      [`files/${third} same.txt`]: 'third',
    });

    const [{ fileId }] = (await host.query<{ fileId: string }>(
      'SELECT file_id AS "fileId" FROM attachments WHERE tenant_id = $1 AND id = $2',
      [workspace.id, second],
    )) as [{ fileId: string }];
    await host.get(FileStore as Type<FileStore>).remove({ tenantId: workspace.id, fileId });
    const { 'missing.txt': missing } = unzip(await archive());
    expect(missing!.toString()).toBe(`${second}\n`);
  });

  it('is of no contact of another workspace', async () => {
    const [own, other] = [await host.make.workspace(), await host.make.workspace()];
    const { id } = await host.make.contact(other);
    for (const unknown of [id, newId(), 'nope'])
      await expect(
        host.get(ContactArchiveService).export(own.id, unknown, SYSTEM).next(),
      ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
