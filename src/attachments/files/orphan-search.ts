import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileKey, FileStore, keyOf } from '../store/file-store';
import { FilesRepository } from './files.repository';

const STEP = 500;
/** Pause in milliseconds between steps, so that they do not slow other work. */
const PAUSE_MS = 50;
/** Age in milliseconds below which bytes may still wait for their row to be changed. */
const YOUNG_MS = 24 * 3_600_000;

/** Finds bytes of the store that no row names. */
@Injectable()
export class OrphanSearch {
  constructor(
    private readonly files: FilesRepository,
    private readonly store: FileStore,
  ) {}

  /** Returns the time before which the bytes were stored that the search looks at. */
  static limit(): Date {
    return new Date(Date.now() - YOUNG_MS);
  }

  /**
   * Searches the store in steps, in the order of its paths.
   * @param tenantId the only workspace whose bytes are looked at; all bytes without it
   * @returns the keys that each step has found, and the number of files that it has looked at
   */
  async *search(tenantId?: string): AsyncGenerator<{ seen: number; orphans: FileKey[] }> {
    const before = OrphanSearch.limit();
    const start = tenantId === undefined ? '' : `${tenantId}/`;
    for (let after: string | undefined = start; after !== undefined;) {
      const listed = await this.store.list(after, STEP);
      const own = listed.filter(({ path }) => path.startsWith(start));
      const old = own.filter(({ modifiedAt }) => modifiedAt < before);
      const keys = old.map(({ path }) => keyOf(path)).filter((key) => key !== null);
      yield { seen: own.length, orphans: await this.withoutRows(keys) };
      after = own.length < listed.length ? undefined : listed.at(-1)?.path;
      await sleep(PAUSE_MS);
    }
  }

  private async withoutRows(keys: FileKey[]): Promise<FileKey[]> {
    const found: FileKey[] = [];
    for (const tenantId of new Set(keys.map((key) => key.tenantId))) {
      const own = keys.filter((key) => key.tenantId === tenantId);
      const ids = [...new Set(own.map(({ fileId }) => fileId))];
      const known = new Set(await this.files.listKnown(tenantId, ids));
      found.push(...own.filter(({ fileId }) => !known.has(fileId)));
    }
    return found;
  }
}
