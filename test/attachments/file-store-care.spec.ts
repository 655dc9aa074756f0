import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { SYSTEM } from '../../src/access/principal';
import { FileSweep } from '../../src/attachments/files/file-sweep';
import { FilesRepository } from '../../src/attachments/files/files.repository';
import { OrphanSearch } from '../../src/attachments/files/orphan-search';
import { DiskStore } from '../../src/attachments/store/disk-store';
import { FileKey, FileStore } from '../../src/attachments/store/file-store';
import { FileStoreProof, OtherFileStore } from '../../src/attachments/store/file-store-proof';
import { FileStoresRepository } from '../../src/attachments/store/file-stores.repository';
import { newId } from '../../src/common/ids';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

describe('the store of files', () => {
  let service: TestService;
  let store: FileStore;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    store = service.app.get(FileStore, { strict: false });
  });

  const put = (key: FileKey) => store.put(key, Readable.from([Buffer.from('bytes')]));
  const insert = ({ tenantId, fileId }: FileKey, deleteAt: string) =>
    service.query(
      `INSERT INTO files (tenant_id, id, name, size, stored_at, delete_at, created_at)
       VALUES ($1, $2, 'a.txt', 5, now(), ${deleteAt}, now())`,
      [tenantId, fileId],
    );
  const newFile = async (deleteAt: string): Promise<FileKey> => {
    const { id: tenantId } = await service.make.workspace();
    const key = { tenantId, fileId: newId() };
    await insert(key, deleteAt);
    await put(key);
    await put({ ...key, isRendition: true });
    return key;
  };
  const rows = ({ fileId }: FileKey) => service.query('SELECT 1 FROM files WHERE id = $1', [fileId]);
  const isGone = async (key: FileKey) =>
    (await store.size(key)) === null && (await store.size({ ...key, isRendition: true })) === null;

  const sweepOf = (one: FileStore) =>
    new FileSweep(new OrphanSearch(service.app.get(FilesRepository, { strict: false }), one), one);

  it('loses a file when it is due, with its rendition, its row and its share of the quota', async () => {
    const key = await newFile('NULL');
    const kept = await newFile("now() + interval '1 hour'");
    await service.query('INSERT INTO file_usage (tenant_id, bytes) VALUES ($1, 7)', [key.tenantId]);
    await service.query('UPDATE files SET delete_at = now() WHERE id = $1', [key.fileId]);
    await waitFor('the row to go', async () => (await rows(key)).length === 0);
    expect(await isGone(key)).toBe(true);
    const [usage] = await service.query('SELECT bytes::integer FROM file_usage WHERE tenant_id = $1', [
      key.tenantId,
    ]);
    expect(usage).toEqual({ bytes: 2 });
    expect([await store.size(kept), (await rows(kept)).length]).toEqual([5, 1]);
  });

  it('loses all files of a deleted workspace, and no other', async () => {
    const key = await newFile('NULL');
    const neighbour = await newFile('NULL');
    for (let n = 0; n < 250; n++) await put({ tenantId: key.tenantId, fileId: newId() });
    await service.app.get(WorkspacesService).delete(key.tenantId, { graceDays: 0 }, SYSTEM);
    await waitFor('the workspace to go', async () => {
      const found = await service.query('SELECT 1 FROM workspaces WHERE id = $1', [key.tenantId]);
      return found.length === 0;
    });
    expect(await isGone(key)).toBe(true);
    const left = await store.list(`${key.tenantId}/`, 1);
    expect(left.filter(({ path }) => path.startsWith(key.tenantId))).toEqual([]);
    expect(await store.size(neighbour)).toBe(5);
  });

  it('is cleaned of bytes that no row names, once they are a day old', async () => {
    const known = await newFile('NULL');
    const orphan = { tenantId: known.tenantId, fileId: newId() };
    await put(orphan);
    await put({ ...orphan, isRendition: true });
    const sweep = sweepOf(store);
    expect(await sweep.clean()).toEqual({ removed: 0, incomplete: 0 });
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * 3_600_000);
    expect(await sweep.clean()).toMatchObject({ removed: 2 });
    jest.restoreAllMocks();
    expect(await isGone(orphan)).toBe(true);
    expect(await store.size(known)).toBe(5);
  });

  it('is not cleaned while several databases use it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shared-store-'));
    const shared = new DiskStore(folder);
    const ofOther = { tenantId: newId(), fileId: newId() };
    const stored = Readable.from([Buffer.from('bytes')]);
    await shared.put(ofOther, stored);
    await shared.setMark('a');
    await shared.setMark('b');
    const sweep = sweepOf(shared);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * 3_600_000);
    expect(await sweep.clean()).toEqual({ removed: 0, incomplete: 0 });
    expect(await shared.size(ofOther)).toBe(5);
    await shared.removeMark('a');
    expect(await sweep.clean()).toEqual({ removed: 1, incomplete: 0 });
    jest.restoreAllMocks();
  });

  describe('is proved to be one for all processes', () => {
    const proofOf = (other: FileStore) =>
      new FileStoreProof(other, service.app.get(FileStoresRepository, { strict: false }));

    it('by the mark of the first', async () => {
      await proofOf(store).onApplicationBootstrap();
    });

    it('or the process ends, and says why', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'other-store-'));
      const start = proofOf(new DiskStore(folder)).onApplicationBootstrap();
      await expect(start).rejects.toThrow(OtherFileStore);
      await expect(
        TestService.create({ beside: service, env: { FILE_STORE_DIRECTORY: folder } }),
      ).rejects.toThrow(
        `The folder ${folder} (FILE_STORE_DIRECTORY) is not the store of files that the other processes use`,
      );
    });

    it('later, if the store is away at the start', async () => {
      const away = new DiskStore(join(__filename, 'folder-in-a-file'));
      const proof = proofOf(away);
      jest.spyOn(away, 'hasMark').mockRejectedValue(new Error('away'));
      await proof.onApplicationBootstrap();
      await proof.beforeApplicationShutdown();
    });
  });
});
