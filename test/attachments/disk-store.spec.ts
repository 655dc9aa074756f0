import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DiskStore } from '../../src/attachments/store/disk-store';
import { newId } from '../../src/common/ids';
import { describeFileStore } from './support/file-store-suite';

describe('a store on a disk', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'store-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  describeFileStore(() => Promise.resolve(new DiskStore(folder)));

  it('removes what a killed process has left, unless it is young', async () => {
    const store = new DiskStore(folder);
    await store.put({ tenantId: newId(), fileId: newId() }, Readable.from([Buffer.from('x')]));
    await writeFile(join(folder, 'incomplete', 'left'), 'half');
    expect(await store.removeIncomplete(new Date(0))).toBe(0);
    expect(await store.removeIncomplete(new Date(Date.now() + 1000))).toBe(1);
  });

  it('does not take a folder that cannot be read for one without a mark', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    await expect(new DiskStore(join(file, 'inside')).hasMark(newId())).rejects.toThrow('ENOTDIR');
    expect(await new DiskStore(join(folder, 'no-such-folder')).hasMark(newId())).toBe(false);
  });
});
