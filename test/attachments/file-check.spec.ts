import { Readable } from 'node:stream';
import { FileCheck, FoundFault } from '../../src/attachments/files/file-check';
import { FileKey, FileStore } from '../../src/attachments/store/file-store';
import { newId } from '../../src/common/ids';
import { PDF, uploadTo } from '../support/files';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

describe('the check of files', () => {
  let service: TestService;
  let store: FileStore;
  let tenant: Tenant;
  let tenantId: string;
  let conversationId: string;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    store = service.app.get(FileStore, { strict: false });
  });
  beforeEach(async () => {
    tenant = await createTenant(service);
    tenantId = tenant.workspace.id;
    conversationId = (await service.make.conversation(tenant.workspace)).id;
  });
  afterEach(() => jest.restoreAllMocks());

  const upload = async (name: string, content: Buffer): Promise<FileKey> => ({
    tenantId,
    fileId: await uploadTo(tenant, conversationId, name, content),
  });
  const put = (key: FileKey, content: Buffer) => store.put(key, Readable.from([content]));
  const replace = async (key: FileKey, content: Buffer) => {
    await store.remove(key);
    await put(key, content);
  };

  async function check({ withHashes = false } = {}) {
    const checks = service.app.get(FileCheck, { strict: false });
    expect(await checks.prepare()).toBe(true);
    const [faults, sum]: [FoundFault[], { rows: number; stored: number }] = [[], { rows: 0, stored: 0 }];
    for (const steps of [checks.checkRows(tenantId, withHashes), checks.checkBytes(tenantId)]) {
      for await (const step of steps) {
        faults.push(...step.faults);
        if ('rows' in step) sum.rows += step.rows;
        else sum.stored += step.stored;
      }
    }
    return { faults, ...sum };
  }

  it('finds nothing wrong with files as the service stores them', async () => {
    await upload('a.pdf', PDF);
    await upload('b.pdf', Buffer.concat([PDF, PDF]));
    // An upload without its content is no fault.
    await tenant.client.post('/uploads', { conversationId, name: 'c.pdf', size: 5 });
    expect(await check({ withHashes: true })).toEqual({ faults: [], rows: 2, stored: 2 });
  });

  it('tells which bytes are missing or others, and of a hidden change by their SHA-256', async () => {
    const [missing, short, changed] = [
      await upload('a.pdf', PDF),
      await upload('b.pdf', PDF),
      await upload('c.pdf', PDF),
    ];
    await store.remove(missing);
    await replace(short, PDF.subarray(0, 9));
    await replace(changed, Buffer.alloc(PDF.length, 'x'));
    const found = [
      { ...missing, fault: 'bytes_missing' },
      { ...short, fault: 'size_differs' },
    ];
    expect((await check()).faults).toEqual(found);
    expect((await check({ withHashes: true })).faults).toEqual([
      ...found,
      { ...changed, fault: 'sha256_differs' },
    ]);
  });

  it('tells of a missing rendition', async () => {
    const file = await upload('a.pdf', PDF);
    const key = { ...file, isRendition: true };
    await service.query("UPDATE files SET rendition = 'thumbnail' WHERE id = $1", [file.fileId]);
    expect((await check()).faults).toEqual([{ ...key, fault: 'rendition_missing' }]);
  });

  it('tells of bytes without a row once they are a day old, and leaves them', async () => {
    await upload('a.pdf', PDF);
    const orphan = { tenantId, fileId: newId() };
    await put(orphan, PDF);
    await put({ tenantId: newId(), fileId: newId() }, PDF);
    expect((await check()).faults).toEqual([]);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * 3_600_000);
    expect(await check()).toEqual({
      faults: [{ ...orphan, isRendition: false, fault: 'row_missing' }],
      rows: 1,
      stored: 2,
    });
    expect(await store.size(orphan)).toBe(PDF.length);
  });

  it('finds nothing wrong with a file that is deleted meanwhile', async () => {
    const key = await upload('a.pdf', PDF);
    const size = store.size.bind(store);
    jest.spyOn(store, 'size').mockImplementation(async (asked) => {
      if (asked.fileId === key.fileId) {
        await service.query('UPDATE files SET delete_at = now() WHERE id = $1', [key.fileId]);
        await store.remove(key);
      }
      return size(asked);
    });
    expect((await check()).faults).toEqual([]);
  });

  it('has an attachment without its bytes answered as not found', async () => {
    const { fileId } = await upload('a.pdf', PDF);
    const { body } = await tenant.client.post(`/conversations/${conversationId}/messages`, {
      attachments: [{ uploadId: fileId }],
    });
    const path = `/api/v1/attachments/${body.message.attachments[0].id}/content`;
    const get = () =>
      fetch(service.baseUrl + path, { headers: { authorization: `Bearer ${tenant.key.key}` } });
    expect(await (await get()).text()).toBe(PDF.toString());
    await store.remove({ tenantId, fileId });
    const answer = await get();
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual([404, 'NOT_FOUND']);
    expect([answer.headers.get('etag'), answer.headers.get('content-disposition')]).toEqual([null, null]);
  });
});
