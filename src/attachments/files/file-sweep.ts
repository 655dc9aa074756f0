import { Injectable, Logger } from '@nestjs/common';
import { FileStore } from '../store/file-store';
import { OrphanSearch } from './orphan-search';

/**
 * Removes bytes that no row names. There should be none, because a row is committed before its bytes are
 * stored, and deleted after they are removed. A restored backup of the database can leave some. In a store
 * that several databases use, no bytes are removed, because the rows of the others can't be seen.
 */
@Injectable()
export class FileSweep {
  private readonly logger = new Logger(FileSweep.name);

  constructor(
    private readonly orphans: OrphanSearch,
    private readonly store: FileStore,
  ) {}

  /** Removes such bytes, and the remains of cut off calls, if they are a day old. */
  async clean(stop?: AbortSignal): Promise<{ removed: number; incomplete: number }> {
    const marks = await this.store.countMarks();
    if (marks > 1) {
      this.logger.warn({ marks }, `${this.store.place} has marks of several databases: no file is removed`);
      return { removed: 0, incomplete: 0 };
    }
    const incomplete = await this.store.removeIncomplete(OrphanSearch.limit());
    let removed = 0;
    for await (const { orphans } of this.orphans.search()) {
      if (stop?.aborted) break;
      for (const key of orphans) await this.store.remove(key);
      removed += orphans.length;
    }
    if (removed + incomplete > 0)
      this.logger.warn({ removed, incomplete }, 'bytes without a row were removed from the store of files');
    return { removed, incomplete };
  }
}
