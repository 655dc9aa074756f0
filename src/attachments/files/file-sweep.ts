import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileKey, FileStore, keyOf } from '../store/file-store';
import { FilesRepository } from './files.repository';

const STEP = 500;
/** Pause in milliseconds between steps, so that they do not slow other work. */
const PAUSE_MS = 50;
/** Age in milliseconds below which bytes may still wait for their row to be changed. */
const YOUNG_MS = 24 * 3_600_000;

/**
 * Removes bytes that no row names. There should be none, because a row is committed before its bytes are
 * stored, and deleted after they are removed. A restored backup of the database can leave some. In a store
 * that several databases use, no bytes are removed, because the rows of the others can't be seen.
 */
@Injectable()
export class FileSweep {
  private readonly logger = new Logger(FileSweep.name);

  constructor(
    private readonly files: FilesRepository,
    private readonly store: FileStore,
  ) {}

  /** Removes such bytes, and the remains of cut off calls, if they are a day old. */
  async clean(stop?: AbortSignal): Promise<{ removed: number; incomplete: number }> {
    const marks = await this.store.countMarks();
    if (marks > 1) {
      this.logger.warn({ marks }, `${this.store.place} has marks of several databases: no file is removed`);
      return { removed: 0, incomplete: 0 };
    }
    const before = new Date(Date.now() - YOUNG_MS);
    const incomplete = await this.store.removeIncomplete(before);
    let removed = 0;
    for (let after: string | undefined = ''; after !== undefined && !stop?.aborted;) {
      const listed = await this.store.list(after, STEP);
      const old = listed.filter(({ modifiedAt }) => modifiedAt < before);
      const keys = old.map(({ path }) => keyOf(path)).filter((key) => key !== null);
      for (const key of await this.withoutRows(keys)) {
        await this.store.remove(key);
        removed++;
      }
      after = listed.at(-1)?.path;
      await sleep(PAUSE_MS);
    }
    if (removed + incomplete > 0)
      this.logger.warn({ removed, incomplete }, 'bytes without a row were removed from the store of files');
    return { removed, incomplete };
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
