import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { newId } from '../../common/ids';
import { DiskStore } from './disk-store';
import { FileKey, FileMissing, pathOf } from './file-store';

describe('a store on a disk', () => {
  let folder: string;
  let store: DiskStore;
  let key: FileKey;
  const read = async (range?: { start: number; end: number }) =>
    (await buffer(await store.open(key, range))).toString();
  const put = (text: string) => store.put(key, Readable.from([Buffer.from(text)]));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'store-'));
    store = new DiskStore(folder);
    key = { tenantId: newId(), fileId: newId() };
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives back what it has taken, whole and in parts', async () => {
    expect(await put('some bytes')).toBe(true);
    expect([await read(), await read({ start: 5, end: 8 }), await store.size(key)]).toEqual([
      'some bytes',
      'byte',
      10,
    ]);
  });

  it('never replaces a file', async () => {
    await put('first');
    expect(await put('second')).toBe(false);
    expect(await read()).toBe('first');
  });

  it('keeps one of two that come at once', async () => {
    const taken = await Promise.all([put('one'), put('two')]);
    expect(taken.sort()).toEqual([false, true]);
    expect(['one', 'two']).toContain(await read());
  });

  it('has a rendition beside its file', async () => {
    await put('file');
    await store.put({ ...key, isRendition: true }, Readable.from([Buffer.from('small')]));
    expect(await read()).toBe('file');
    await store.remove({ ...key, isRendition: true });
    expect(await read()).toBe('file');
  });

  it('keeps nothing of a source that fails', async () => {
    const source = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        await Promise.resolve();
        throw new Error('cut off');
      })(),
    );
    await expect(store.put(key, source)).rejects.toThrow('cut off');
    expect(await store.size(key)).toBeNull();
    expect(await readdir(join(folder, 'incomplete'))).toEqual([]);
  });

  it('keeps nothing of a call that is ended', async () => {
    const stop = new AbortController();
    const source = new Readable({ read: () => stop.abort(new Error('stopped')) });
    await expect(store.put(key, source, { signal: stop.signal })).rejects.toThrow();
    expect(await store.size(key)).toBeNull();
  });

  it('says that a file is missing, and removes what is not there', async () => {
    await expect(store.open(key)).rejects.toThrow(FileMissing);
    expect(await store.size(key)).toBeNull();
    await store.remove(key);
  });

  it('lists its files in steps, and no other', async () => {
    const keys = Array.from({ length: 7 }, () => ({ tenantId: newId(), fileId: newId() }));
    for (const one of keys) await store.put(one, Readable.from([Buffer.from('x')]));
    await writeFile(join(folder, 'marker'), 'x');
    const found: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const step = await store.list(after, 2);
      found.push(...step.map(({ path }) => path));
      after = step.at(-1)?.path;
    }
    expect(found).toEqual(keys.map(pathOf).sort());
  });

  it('removes what a killed process has left, unless it is young', async () => {
    await put('x');
    await writeFile(join(folder, 'incomplete', 'left'), 'half');
    expect(await store.removeIncomplete(new Date(0))).toBe(0);
    expect(await store.removeIncomplete(new Date(Date.now() + 1000))).toBe(1);
  });
});
