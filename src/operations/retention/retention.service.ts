import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { Partitions } from '../../database/history/partitions';
import { CleanUp, TableDeclaration } from '../../database/tables/table-declaration';
import { TableRegistry } from '../../database/tables/table-registry';
import { CleanUpStep, TableRowsRepository } from '../../database/tables/table-rows.repository';

/** Largest number of rows that one statement checks. */
const BATCH = 2_000;
/** Smallest number of rows of a batch. If such a batch fails, the table is left to the next night. */
const MIN_BATCH = 100;
/** Pause in milliseconds between batches, so that they do not slow down other work. */
const PAUSE_MS = 50;

const BEGINNING = '-infinity';

/**
 * Deletes expired rows from each table that is registered with a retention. Audit entries never expire;
 * `PartitionKeeper` drops the history by the day.
 */
@Injectable()
export class RetentionService {
  private readonly logger = new Logger(RetentionService.name);

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
    private readonly partitions: Partitions,
  ) {}

  /**
   * Deletes expired rows in small batches. A failure in one table does not affect other tables. The next run
   * continues after a stop or a failure.
   * @returns the number of deleted rows, by table
   */
  async clean(stop?: AbortSignal): Promise<Record<string, number>> {
    const deleted: Record<string, number> = {};
    for (const { table, cleanUp } of this.tables.listCleanUps()) {
      const { name } = table;
      deleted[name] = 0;
      try {
        for await (const count of this.cleanTable(table, cleanUp, stop)) deleted[name] += count;
      } catch (error) {
        this.logger.error(
          { err: error as Error, table: name },
          'expired rows of a table were not deleted; the next run will retry',
        );
      }
    }
    this.logger.log({ deleted }, 'deleted expired rows');
    return deleted;
  }

  /** Deletes the expired rows of one table; yields the count of each batch. Failed batches get smaller. */
  private async *cleanTable(
    table: TableDeclaration,
    cleanUp: CleanUp,
    stop?: AbortSignal,
  ): AsyncGenerator<number> {
    const before = await this.findCutoff(cleanUp);
    let from = BEGINNING;
    for (let count = BATCH; !stop?.aborted;) {
      const range = { from, before, count };
      const step: CleanUpStep | Error = await this.database
        .queueTransaction((tx) => this.rows.cleanUp(tx, table, cleanUp, range))
        .catch((error: Error) => error);
      if (step instanceof Error) {
        if (count <= MIN_BATCH) throw step;
        count = Math.max(MIN_BATCH, Math.floor(count / 2));
      } else {
        yield step.deleted;
        if (step.seen < count || (step.deleted === 0 && step.age === from)) return;
        from = step.age!;
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Returns the time stamp, by the database's clock, before which rows are expired. */
  private findCutoff({ keptHours, wholeDays }: CleanUp): Promise<string> {
    const hours = keptHours === 'history' ? this.config.retentionDays * 24 : keptHours;
    return this.partitions.readCutoff(hours, wholeDays ?? false);
  }
}
