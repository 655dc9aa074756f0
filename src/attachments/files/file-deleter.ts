import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { FileStore } from '../store/file-store';
import { FileRowKey, FilesRepository } from './files.repository';
import { FileSpace } from './file-space';

/** Milliseconds between deletions of a worker, so that they do not slow other work. */
const PAUSE_MS = 5;

/**
 * Deletes files that are due: first the bytes, and then the row. A worker that is killed in between leaves
 * the row, by which the next one goes on.
 */
@Injectable()
export class FileDeleter {
  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly files: FilesRepository,
    private readonly space: FileSpace,
    private readonly store: FileStore,
  ) {
    runner.registerFree({
      name: 'files',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => files.findDue(after, server) },
      size: 1,
      pauseMs: PAUSE_MS,
      step: (key) => this.delete(key),
    });
  }

  private async delete(key: FileRowKey): Promise<StepOutcome> {
    await this.store.remove({ ...key, isRendition: true });
    await this.store.remove(key);
    await this.database.queueTransaction(async (tx) => {
      const size = await this.files.delete(tx, key);
      if (size !== null) await this.space.release(tx, key.tenantId, size);
    });
    return 'done';
  }
}
