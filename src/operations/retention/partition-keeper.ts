import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockConflict } from '../../database/driver/database-errors';
import { Config } from '../../config/config';
import { PartitionChange, PartitionChanges } from '../../database/history/partition-changes';
import { Day, Partition, PARTITIONED_TABLES, Partitions, nameOf } from '../../database/history/partitions';
import { HistoryUses } from './history-uses';

/** Number of days ahead for which partitions are created, so that a week without any worker does no harm. */
const DAYS_AHEAD = 8;
/**
 * Largest number of days whose rows are in default partitions for which one run creates partitions. There may
 * be many such days, because a forged id can name any day.
 */
const MAX_DEFAULT_DAYS = 30;
const TRIES = 5;
const PAUSE_MS = 400;

/**
 * Creates, attaches, detaches and drops the partitions of the history, one a day, from the oldest stored day
 * to 8 days ahead. Each step is complete in itself, so the next run of any worker continues after a failure.
 */
@Injectable()
export class PartitionKeeper {
  private readonly logger = new Logger(PartitionKeeper.name);

  constructor(
    private readonly config: Config,
    private readonly partitions: Partitions,
    private readonly changes: PartitionChanges,
    private readonly uses: HistoryUses,
  ) {}

  /**
   * Creates and attaches the partitions of yesterday, of the coming days, and of days whose rows are in a
   * default partition. Also attaches partitions that an earlier run left detached.
   */
  async create(stop?: AbortSignal): Promise<void> {
    const today = await this.partitions.readToday();
    const oldest = today - this.config.retentionDays;
    const present = await this.partitions.list();
    const attached = new Set(
      present.filter(({ isAttached }) => isAttached).map(({ table, day }) => nameOf(table, day)),
    );
    const days = new Set([
      ...Array.from({ length: DAYS_AHEAD + 2 }, (_, n) => today - 1 + n),
      ...(await this.partitions.listDefaultDays()).slice(0, MAX_DEFAULT_DAYS),
    ]);
    const wanted = [
      ...[...days].flatMap((day) => PARTITIONED_TABLES.map((table) => ({ table, day }))),
      ...present.filter(({ day }) => day >= oldest),
    ];
    for (const { table, day } of wanted) {
      if (attached.has(nameOf(table, day))) continue;
      attached.add(nameOf(table, day));
      const created = await this.tryStep('create', table, day, stop);
      if (created === 'busy') return;
      if (created) await this.tryStep('attach', table, day, stop);
    }
  }

  /** Detaches the partitions of days before the retention period, unless unfinished work needs the day. */
  async detach(stop?: AbortSignal): Promise<void> {
    const expired = await this.listExpired();
    const attached = expired.filter(({ isAttached }) => isAttached);
    for (const day of new Set(attached.map((partition) => partition.day))) {
      if (stop?.aborted) return;
      await this.uses.giveUpSuspended(day, stop);
      if (await this.isNeeded(day)) continue;
      for (const table of PARTITIONED_TABLES) {
        if (!attached.some((one) => one.day === day && one.table === table)) continue;
        if ((await this.tryStep('detach', table, day, stop)) === 'busy') return;
      }
    }
  }

  /** Reports whether an expired partition is detached, so that it can be dropped. */
  async hasDetached(): Promise<boolean> {
    return (await this.listExpired()).some(({ isAttached }) => !isAttached);
  }

  /**
   * Drops detached partitions. If unfinished work needs the day of a partition, it is attached again instead:
   * a request may have asked for an old delivery before its partition was detached.
   */
  async drop(stop?: AbortSignal): Promise<void> {
    const detached = (await this.listExpired()).filter(({ isAttached }) => !isAttached);
    for (const day of new Set(detached.map((partition) => partition.day))) {
      if (stop?.aborted) return;
      const step = (await this.isNeeded(day)) ? 'attach' : 'drop';
      for (const { table } of detached.filter((partition) => partition.day === day))
        if ((await this.tryStep(step, table, day, stop)) === 'busy') return;
    }
  }

  /** Logs an error if a default partition has rows, because the partition of their day was missing. */
  async checkDefaults(): Promise<void> {
    const rows = await this.partitions.countDefaultRows();
    if (Object.values(rows).some((count) => count > 0))
      this.logger.error({ rows }, 'a default partition is not empty: the partition of a day was missing');
  }

  private async listExpired(): Promise<Partition[]> {
    const oldest = (await this.partitions.readToday()) - this.config.retentionDays;
    return (await this.partitions.list()).filter(({ day }) => day < oldest);
  }

  private async isNeeded(day: Day): Promise<boolean> {
    const reference = await this.uses.find(day);
    if (!reference) return false;
    const details = { day: nameOf('events', day).slice(-8), ...reference };
    this.logger.warn(details, 'a day of the history is kept: something unfinished needs it');
    return true;
  }

  /**
   * Makes one change and logs a failure. After a lock conflict it tries again, up to 5 times in all.
   * @returns null if it failed or was stopped: the next run retries it
   */
  private async tryStep(
    step: 'create' | 'attach' | 'detach' | 'drop',
    table: Partition['table'],
    day: Day,
    stop?: AbortSignal,
  ): Promise<PartitionChange | null> {
    const partition = nameOf(table, day);
    for (let n = 1; !stop?.aborted; n++) {
      try {
        const change = await this.changes[step](table, day);
        if (change === 'done') this.logger.log({ partition, step }, 'a partition was changed');
        return change;
      } catch (error) {
        if (!isLockConflict(error) || n === TRIES) {
          this.logger.error(
            { err: error as Error, partition, step },
            'a partition was not changed; it will be retried',
          );
          return null;
        }
      }
      // The pause is random, because a fixed one could meet a transaction that repeats at its interval.
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
    return null;
  }
}
