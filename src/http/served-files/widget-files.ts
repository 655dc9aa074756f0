import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { EncodedFile } from './encoded-file';

const compressBrotli = promisify<Buffer, Buffer>(brotliCompress);
const compressGzip = promisify<Buffer, Buffer>(gzip);

const LOADER = 'v1.js';
const ASSETS = 'assets';
/** Regular expression of a chunk's name in the build: `<name>-<hash>.js`. */
const CHUNK = /^(?<name>[\w-]+)-[\w-]{8}\.js$/;

/** Chunk that answers a request. `isExact` is false if it is from another build than the requested chunk. */
export interface FoundChunk {
  file: EncodedFile;
  isExact: boolean;
}

export class WidgetFiles {
  private readonly byName = new Map<string, EncodedFile>();

  private constructor(
    readonly loader: EncodedFile | null,
    private readonly byFileName: ReadonlyMap<string, EncodedFile>,
  ) {
    for (const [fileName, file] of byFileName) this.byName.set(CHUNK.exec(fileName)!.groups!['name']!, file);
  }

  /** Reads the build in a folder into memory. Without a build, it returns no files. */
  static async read(folder: string): Promise<WidgetFiles> {
    try {
      const loader = await readCompressed(join(folder, LOADER));
      const fileNames = (await readdir(join(folder, ASSETS))).filter((fileName) => CHUNK.test(fileName));
      const chunks = fileNames.map(
        async (fileName) => [fileName, await readCompressed(join(folder, ASSETS, fileName))] as const,
      );
      return new WidgetFiles(loader, new Map(await Promise.all(chunks)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return new WidgetFiles(null, new Map());
    }
  }

  /**
   * Finds a chunk. During an upgrade, a page with the loader of one build may ask a process that has another
   * build. The page then gets the chunk of the same name, because loaders and chunks of all `v1` builds fit
   * each other.
   */
  findChunk(fileName: string): FoundChunk | null {
    const exact = this.byFileName.get(fileName);
    if (exact) return { file: exact, isExact: true };
    const own = this.byName.get(CHUNK.exec(fileName)?.groups!['name'] ?? '');
    return own ? { file: own, isExact: false } : null;
  }
}

/** Reads a file, and begins to compress it in another thread, which takes up to 0.1 seconds. */
async function readCompressed(path: string): Promise<EncodedFile> {
  const bytes = await readFile(path);
  return new EncodedFile(bytes, { br: compressBrotli(bytes), gzip: compressGzip(bytes) });
}
