import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../../metrics/metrics';
import { FileStore, StoreSpace } from './file-store';

/** Milliseconds that a scrape waits for the store. A network disk that is away may never answer. */
const TIMEOUT_MS = 1_000;
const UNKNOWN: StoreSpace = { free: Number.NaN, total: Number.NaN };

/** Sets the gauge of the store's space, which is read at each scrape. A bucket has no series. */
@Injectable()
export class FileStoreMetrics {
  private readonly logger = new Logger(FileStoreMetrics.name);
  private readonly bytes: Gauge<'state'>;
  private measuring: Promise<void> | null = null;

  constructor(
    metrics: Metrics,
    private readonly store: FileStore,
  ) {
    this.bytes = new Gauge({
      name: 'file_store_bytes',
      help: 'Bytes of the disk with the folder of files: free ones, and all.',
      labelNames: ['state'],
      registers: [metrics.registry],
      collect: () => this.collect(),
    });
  }

  private async collect(): Promise<void> {
    this.measuring ??= this.measure().finally(() => (this.measuring = null));
    const limit = new AbortController();
    const late = sleep(TIMEOUT_MS, true, { signal: limit.signal }).catch(() => false);
    // An old value would look like a current one.
    if (await Promise.race([this.measuring, late])) this.set(UNKNOWN);
    limit.abort();
  }

  private async measure(): Promise<void> {
    try {
      const space = await this.store.space();
      if (space) this.set(space);
    } catch (error) {
      this.set(UNKNOWN);
      this.logger.warn({ err: error as Error }, 'failed to measure the store of files');
    }
  }

  private set({ free, total }: StoreSpace): void {
    this.bytes.set({ state: 'free' }, free);
    this.bytes.set({ state: 'total' }, total);
  }
}
