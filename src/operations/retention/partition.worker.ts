import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Periodic } from '../../common/periodic';
import { PartitionKeeper } from './partition-keeper';

const INTERVAL_MS = 10 * 60 * 1000;
/** Milliseconds from detaching a partition to dropping it. No request that has read it takes so long. */
const BEFORE_DROP_MS = 15_000;

/** Runs `PartitionKeeper` when a worker starts, and every ten minutes, without Redis. */
@Injectable()
export class PartitionWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(PartitionWorker.name);
  private readonly stop = new AbortController();
  private readonly runs = new Periodic(
    INTERVAL_MS,
    () => this.keepPartitions(),
    (error) => this.logger.error({ err: error }, 'keeping the partitions failed; it will be retried'),
  );

  constructor(private readonly keeper: PartitionKeeper) {}

  onApplicationBootstrap(): void {
    this.runs.start(0);
  }

  beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    return this.runs.stop();
  }

  private async keepPartitions(): Promise<void> {
    const { signal } = this.stop;
    await this.keeper.create(signal);
    await this.keeper.checkDefaults();
    await this.keeper.detach(signal);
    if (!(await this.keeper.hasDetached())) return;
    await sleep(BEFORE_DROP_MS, undefined, { signal }).catch(() => undefined);
    await this.keeper.drop(signal);
  }
}
