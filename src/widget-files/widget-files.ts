import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WidgetFile } from './widget-file';

const LOADER = 'v1.js';
const ASSETS = 'assets';
/** Regular expression of a chunk's name in the build: `<name>-<hash>.js`. */
const CHUNK = /^(?<name>[\w-]+)-[\w-]{8}\.js$/;

/** Chunk that answers a request. `isExact` is false if it comes from another build than the requested one. */
export interface FoundChunk {
  file: WidgetFile;
  isExact: boolean;
}

/** Files of one build of the widget. They are few and small enough for memory. */
export class WidgetFiles {
  private readonly byName = new Map<string, WidgetFile>();

  private constructor(
    readonly loader: WidgetFile | null,
    private readonly byFileName: ReadonlyMap<string, WidgetFile>,
  ) {
    for (const [fileName, file] of byFileName) this.byName.set(CHUNK.exec(fileName)!.groups!['name']!, file);
  }

  /** Reads the files of a folder. Without a build in the folder there are none. */
  static async read(folder: string): Promise<WidgetFiles> {
    try {
      const loader = new WidgetFile(await readFile(join(folder, LOADER)));
      const fileNames = (await readdir(join(folder, ASSETS))).filter((fileName) => CHUNK.test(fileName));
      const chunks = fileNames.map(
        async (fileName) =>
          [fileName, new WidgetFile(await readFile(join(folder, ASSETS, fileName)))] as const,
      );
      return new WidgetFiles(loader, new Map(await Promise.all(chunks)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return new WidgetFiles(null, new Map());
    }
  }

  /**
   * Finds a chunk. During an upgrade, a page with the loader of one build may ask a process that has another
   * build. It gets that build's chunk of the same name: within `v1`, loader and chunks of all builds fit each
   * other.
   */
  findChunk(fileName: string): FoundChunk | null {
    const exact = this.byFileName.get(fileName);
    if (exact) return { file: exact, isExact: true };
    const own = this.byName.get(CHUNK.exec(fileName)?.groups!['name'] ?? '');
    return own ? { file: own, isExact: false } : null;
  }
}
