import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Periodic } from '../../common/periodic';
import { FileStore } from './file-store';
import { FileStoresRepository } from './file-stores.repository';

/** Milliseconds after which a proof is tried again that failed because the database or the store is away. */
const RETRY_MS = 5_000;

/** Error of a process whose store of files is not the store of the other processes. */
export class OtherFileStore extends Error {}

/**
 * Proves at the start of a process that all processes share one store of files. The first process marks its
 * store, and each other must find that mark in its own, or it ends. While the database or the store is away,
 * the proof waits.
 */
@Injectable()
export class FileStoreProof implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(FileStoreProof.name);
  private readonly retries = new Periodic(
    RETRY_MS,
    () => this.proveLater(),
    (error) => this.reportAway(error),
  );

  constructor(
    private readonly store: FileStore,
    private readonly stores: FileStoresRepository,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.prove();
    } catch (error) {
      if (error instanceof OtherFileStore) throw error;
      this.reportAway(error as Error);
      this.retries.runLater();
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retries.stop();
  }

  /**
   * Looks for the mark, and sets it if the database names none.
   * @throws OtherFileStore; the error of the database or of the store
   */
  private async prove(): Promise<void> {
    const id = (await this.stores.find()) ?? (await this.mark());
    if (await this.store.hasMark(id)) return;
    throw new OtherFileStore(
      `${this.store.place} is not the store of files that the other processes use: it lacks their mark, ` +
        `database-${id}. All processes must have the same store.`,
    );
  }

  /** Marks the store, and then tells the database, so that no process looks for a mark that is not there. */
  private async mark(): Promise<string> {
    const id = newId();
    await this.store.setMark(id);
    await this.stores.insert(id);
    const stored = (await this.stores.find()) ?? id;
    if (stored !== id) await this.store.removeMark(id);
    return stored;
  }

  private async proveLater(): Promise<void> {
    try {
      await this.prove();
    } catch (error) {
      if (error instanceof OtherFileStore) {
        this.logger.fatal(error.message);
        process.exitCode = 1;
        process.kill(process.pid, 'SIGTERM');
        return;
      }
      this.retries.runLater();
      throw error;
    }
  }

  private reportAway(error: Error): void {
    this.logger.warn({ err: error }, 'the store of files could not be checked yet; it will be tried again');
  }
}
