import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { AppError } from '../../common/app-error';
import { describeChannel } from '../../common/channel-descriptors';
import { Config } from '../../config/config';
import { RequestBodies } from '../../http/connections/request-bodies';
import { Connection, HookRequest } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { HookEvent } from '../adapters/hook-events';

/**
 * Milliseconds for which a connection's requests are refused after a signed body of too many events. Reading
 * such bodies must not fill a process.
 */
const PAUSE_MS = 5_000;

/** Reads requests to hooks, within the size and the number of events that a provider documents. */
@Injectable()
export class HookBodies {
  private readonly logger = new Logger(HookBodies.name);
  /**
   * Connections whose requests are refused now, after one with too many events, each by id with the end of
   * its pause on the monotonic clock.
   */
  private readonly paused = new Map<string, number>();

  constructor(
    private readonly config: Config,
    private readonly adapters: ChannelAdapters,
    private readonly bodies: RequestBodies,
  ) {}

  /**
   * Reads a request's body.
   * @throws AppError PAYLOAD_TOO_LARGE; RATE_LIMITED: the connection sent too many events seconds ago
   */
  async read(connection: Connection, request: Request): Promise<HookRequest> {
    this.requireNoPause(connection);
    const { maxMebibytes } = describeChannel(connection.channel).hook!.batch;
    const rawBody = await this.bodies
      .read(request, maxMebibytes * 1024 * 1024)
      .catch((error: unknown) => this.reportTooLarge(error, connection));
    // Another body may have been too large while this one was read.
    this.requireNoPause(connection);
    const { originalUrl, headers } = request;
    return { url: `${this.config.publicUrl}${originalUrl}`, headers, rawBody };
  }

  /**
   * Reads the events of a request whose signature was verified.
   * @throws AppError INVALID_BODY, PAYLOAD_TOO_LARGE
   */
  parse(connection: Connection, request: HookRequest): HookEvent[] {
    const { maxEvents } = describeChannel(connection.channel).hook!.batch;
    try {
      return this.adapters.getHookedAdapter(connection.channel).parse(connection, request, maxEvents);
    } catch (error) {
      if (isTooLarge(error)) this.pause(connection.id);
      return this.reportTooLarge(error, connection);
    }
  }

  private pause(connectionId: string): void {
    this.paused.set(connectionId, performance.now() + PAUSE_MS);
    setTimeout(() => this.paused.delete(connectionId), PAUSE_MS).unref();
  }

  private requireNoPause({ id }: Connection): void {
    const until = this.paused.get(id);
    if (until === undefined) return;
    const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1_000));
    throw AppError.rateLimited('A request for this connection had too many events.', seconds);
  }

  /** Logs a body that is larger than its provider documents: it would be sent again and again. */
  private reportTooLarge(error: unknown, { channel, id: connectionId }: Connection): never {
    if (isTooLarge(error))
      this.logger.warn({ channel, connectionId }, `a hook's request was refused: ${error.message}`);
    throw error;
  }
}

function isTooLarge(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE';
}
