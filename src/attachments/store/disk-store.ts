import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '../../common/ids';
import {
  FileKey,
  FileMissing,
  FileRange,
  FileStore,
  MARK,
  markOf,
  pathOf,
  PutOptions,
  StoredFile,
  StoreSpace,
} from './file-store';

/** Folder of files that are being written. A process that is killed leaves such a file behind. */
const INCOMPLETE = 'incomplete';

/**
 * Keeps files in a folder. A file is written under another name, flushed to the disk, and then gets its name
 * by a link, which fails if the name is taken.
 */
export class DiskStore extends FileStore {
  constructor(private readonly folder: string) {
    super();
  }

  async put(key: FileKey, source: Readable, { signal }: PutOptions = {}): Promise<boolean> {
    const path = join(this.folder, pathOf(key));
    const incomplete = join(this.folder, INCOMPLETE, newId());
    await makeFolder(dirname(incomplete), this.folder);
    await makeFolder(dirname(path), this.folder);
    try {
      await pipeline(source, createWriteStream(incomplete, { flags: 'wx', flush: true }), { signal });
      await link(incomplete, path);
      await syncFolder(dirname(path));
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(incomplete, { force: true });
    }
  }

  async open(key: FileKey, range?: FileRange): Promise<Readable> {
    const stream = createReadStream(join(this.folder, pathOf(key)), range);
    try {
      await new Promise<void>((resolve, reject) => {
        stream.once('open', () => resolve());
        stream.once('error', reject);
      });
    } catch (error) {
      throw hasCode(error, 'ENOENT') ? new FileMissing() : error;
    }
    return stream;
  }

  async size(key: FileKey): Promise<number | null> {
    try {
      return (await stat(join(this.folder, pathOf(key)))).size;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  async remove(key: FileKey): Promise<void> {
    try {
      await unlink(join(this.folder, pathOf(key)));
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }

  async list(after: string, count: number): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    for await (const path of this.walk('', after)) {
      const facts = await stat(join(this.folder, path)).catch(() => null);
      if (facts) found.push({ path, modifiedAt: facts.mtime });
      if (found.length === count) break;
    }
    return found;
  }

  async removeIncomplete(before: Date): Promise<number> {
    let removed = 0;
    for (const name of await namesOf(join(this.folder, INCOMPLETE))) {
      const path = join(this.folder, INCOMPLETE, name);
      const facts = await stat(path).catch(() => null);
      if (!facts || facts.mtime >= before) continue;
      await rm(path, { force: true });
      removed++;
    }
    return removed;
  }

  async hasMark(id: string): Promise<boolean> {
    try {
      await stat(join(this.folder, markOf(id)));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async setMark(id: string): Promise<void> {
    await makeFolder(this.folder, this.folder);
    await writeFile(join(this.folder, markOf(id)), '', { flush: true });
    await syncFolder(this.folder);
  }

  async removeMark(id: string): Promise<void> {
    await rm(join(this.folder, markOf(id)), { force: true });
  }

  async countMarks(): Promise<number> {
    return (await namesOf(this.folder)).filter((name) => name.startsWith(MARK)).length;
  }

  async space(): Promise<StoreSpace> {
    const { bavail, blocks, bsize } = await statfs(this.folder);
    return { free: bavail * bsize, total: blocks * bsize };
  }

  get place(): string {
    return `The folder ${this.folder} (FILE_STORE_DIRECTORY)`;
  }

  /** Yields the paths of all files after a path, in their order, and reads one folder at a time. */
  private async *walk(path: string, after: string): AsyncGenerator<string> {
    for (const name of (await namesOf(join(this.folder, path))).sort()) {
      const inner = path === '' ? name : `${path}/${name}`;
      const depth = inner.split('/').length;
      if (inner === INCOMPLETE || inner < after.slice(0, inner.length)) continue;
      if (depth < 3) yield* this.walk(inner, after);
      else if (inner > after) yield inner;
    }
  }
}

async function namesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** Makes a folder below `root`, durably: each new folder's entry is flushed to the disk. */
async function makeFolder(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; made.length >= Math.max(first.length, root.length); made = dirname(made))
    await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
