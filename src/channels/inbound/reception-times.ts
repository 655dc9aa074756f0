import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { ChannelConnectionsRepository, Reception } from '../connections/channel-connections.repository';
import { LoadedConnection } from '../connections/connection-loader';

/** Minimum milliseconds between two updates of a connection's `lastReceivedAt`, to save statements. */
const STEP_MS = 60 * 1000;
const WRITE_EVERY_MS = 1_000;
const BATCH = 500;

/**
 * Collects in memory the times at which connections received messages, and writes them in batches. If a time
 * is lost by an error or a crash, the connection's next message sets a new one.
 */
@Injectable()
export class ReceptionTimes implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ReceptionTimes.name);
  private noted = new Map<string, Reception>();
  private readonly writes = new Periodic(
    WRITE_EVERY_MS,
    () => this.write(),
    (error) => this.logFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly connections: ChannelConnectionsRepository,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.writes.stop();
    await this.write();
  }

  /** Records a message, unless the connection's stored time is less than a minute old. */
  observe({ tenantId, id, lastReceivedAt }: LoadedConnection): void {
    const at = new Date();
    if (lastReceivedAt && at.getTime() - lastReceivedAt.getTime() < STEP_MS) return;
    this.noted.set(id, { tenantId, id, at });
    this.writes.runLater();
  }

  private async write(): Promise<void> {
    const noted = [...this.noted.values()];
    this.noted = new Map();
    await this.database.workInBatches(
      noted,
      BATCH,
      (batch) => this.connections.markReceived(batch),
      (error) => this.logFailure(error),
    );
  }

  private logFailure(error: Error): void {
    this.logger.warn({ err: error }, 'times of received messages were not written');
  }
}
