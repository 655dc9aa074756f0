import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WidgetFile } from './widget-file';

const LOADER = 'v1.js';
const ASSETS = 'assets';
/** The build names a chunk `<name>-<hash>.js`. */
const CHUNK = /^(?<name>[\w-]+)-[\w-]{8}\.js$/;

/** A chunk, and whether it is of the build that was asked for. */
export interface FoundChunk {
  file: WidgetFile;
  isExact: boolean;
}

/** The files of one build of the widget. They are few and small, so that memory holds them. */
export class WidgetFiles {
  private readonly byName = new Map<string, WidgetFile>();

  private constructor(
    readonly loader: WidgetFile | null,
    private readonly byFileName: ReadonlyMap<string, WidgetFile>,
  ) {
    for (const [fileName, file] of byFileName) this.byName.set(CHUNK.exec(fileName)!.groups!['name']!, file);
  }

  /** Without a build there, it has no files. */
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
   * During an upgrade, a page with the loader of one build may ask a process with another for a chunk. It gets that
   * process's chunk of the same name: what loader and chunks expect of each other stays the same within `v1`.
   */
  findChunk(fileName: string): FoundChunk | null {
    const exact = this.byFileName.get(fileName);
    if (exact) return { file: exact, isExact: true };
    const own = this.byName.get(CHUNK.exec(fileName)?.groups!['name'] ?? '');
    return own ? { file: own, isExact: false } : null;
  }
}
