import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { FileKey, FileMissing, FileStore, pathOf } from '../../../src/attachments/store/file-store';
import { newId } from '../../../src/common/ids';

/** Tests what every store of files promises. */
export function describeFileStore(open: () => Promise<FileStore>): void {
  let store: FileStore;
  let key: FileKey;
  const sourceOf = (text: string) => Readable.from([Buffer.from(text)]);
  const read = async (range?: { start: number; end: number }) =>
    (await buffer(await store.open(key, range))).toString();
  const put = (text: string, size: number | undefined = text.length) =>
    store.put(key, sourceOf(text), { size });

  beforeEach(async () => {
    store = await open();
    key = { tenantId: newId(), fileId: newId() };
  });

  it('gives back what it has taken, whole and in parts', async () => {
    expect(await put('some bytes')).toBe(true);
    expect([await read(), await read({ start: 5, end: 8 })]).toEqual(['some bytes', 'byte']);
    expect(await store.size(key)).toBe(10);
  });

  it('takes a file of unknown size, also a large one', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const source = Readable.from(Array.from({ length: 12 }, () => chunk));
    expect(await store.put(key, source)).toBe(true);
    expect(await store.size(key)).toBe(12 * chunk.length);
  });

  it.each([['known', 6] as const, ['unknown', undefined]])(
    'never replaces a file, by one of %s size',
    async (_, size) => {
      await put('first');
      expect(await store.put(key, sourceOf('second'), { size })).toBe(false);
      expect(await read()).toBe('first');
    },
  );

  it('keeps one of two that come at once', async () => {
    const taken = await Promise.all([put('one'), put('two')]);
    expect(taken.sort()).toEqual([false, true]);
    expect(['one', 'two']).toContain(await read());
  });

  it('has a rendition beside its file', async () => {
    await put('file');
    await store.put({ ...key, isRendition: true }, sourceOf('small'), { size: 5 });
    expect(await read()).toBe('file');
    await store.remove({ ...key, isRendition: true });
    expect(await read()).toBe('file');
  });

  it.each([['known', 8] as const, ['unknown', undefined]])(
    'keeps nothing of a source of %s size that fails',
    async (_, size) => {
      const source = Readable.from(
        (async function* () {
          yield Buffer.from('half');
          await new Promise((resolve) => setImmediate(resolve));
          throw new Error('cut off');
        })(),
      );
      await expect(store.put(key, source, { size })).rejects.toThrow('cut off');
      expect(await store.size(key)).toBeNull();
    },
  );

  it('keeps nothing of a call that is ended', async () => {
    const stop = new AbortController();
    const source = new Readable({ read: () => void setTimeout(() => stop.abort(new Error('stopped')), 20) });
    await expect(store.put(key, source, { size: 10, signal: stop.signal })).rejects.toThrow();
    expect(await store.size(key)).toBeNull();
  });

  it('says that a file is missing, and removes what is not there', async () => {
    await expect(store.open(key)).rejects.toThrow(FileMissing);
    expect(await store.size(key)).toBeNull();
    await store.remove(key);
  });

  it('removes a file', async () => {
    await put('x');
    await store.remove(key);
    expect(await store.size(key)).toBeNull();
  });

  it('lists its files in steps, and nothing else', async () => {
    await store.setMark(newId());
    const keys = Array.from({ length: 7 }, () => ({ tenantId: key.tenantId, fileId: newId() }));
    for (const one of keys) await store.put(one, sourceOf('x'), { size: 1 });
    const found: string[] = [];
    for (let after: string | undefined = `${key.tenantId}/`; after !== undefined;) {
      const step = await store.list(after, 2);
      found.push(...step.map(({ path }) => path));
      after = step.at(-1)?.path;
    }
    expect(found.filter((path) => path.startsWith(key.tenantId))).toEqual(keys.map(pathOf).sort());
  });

  it('has the marks that it was given', async () => {
    const id = newId();
    expect(await store.hasMark(id)).toBe(false);
    const before = await store.countMarks();
    await store.setMark(id);
    expect([await store.hasMark(id), await store.countMarks()]).toEqual([true, before + 1]);
    await store.removeMark(id);
    expect([await store.hasMark(id), await store.countMarks()]).toEqual([false, before]);
  });
}
