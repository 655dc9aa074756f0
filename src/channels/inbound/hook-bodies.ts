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
 * Milliseconds for which a connection's requests are refused after a signed body with too many events.
 * Repeated bodies of this size would overload the process.
 */
const PAUSE_MS = 5_000;

/** Reads hooks' bodies, up to the size and the number of events that the provider documents. */
@Injectable()
export class HookBodies {
  private readonly logger = new Logger(HookBodies.name);
  /** Time until which a connection's requests are refused, by its id (value of `performance.now()`). */
  private readonly paused = new Map<string, number>();

  constructor(
    private readonly config: Config,
    private readonly adapters: ChannelAdapters,
    private readonly bodies: RequestBodies,
  ) {}

  /**
   * Reads a request's body.
   * @throws AppError PAYLOAD_TOO_LARGE; RATE_LIMITED within 5 s after a body with too many events
   */
  async read(connection: Connection, request: Request): Promise<HookRequest> {
    this.requireNoPause(connection);
    const { maxMebibytes } = describeChannel(connection.channel).hook!.batch;
    const rawBody = await this.bodies
      .read(request, maxMebibytes * 1024 * 1024)
      .catch((error: unknown) => this.reportTooLarge(error, connection));
    // While the body was read, a concurrent request may have started a pause.
    this.requireNoPause(connection);
    const { originalUrl, headers } = request;
    return { url: `${this.config.publicUrl}${originalUrl}`, headers, rawBody };
  }

  /**
   * Parses the events of a request whose signature is verified.
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

  /** Throws the error. Logs a body larger than documented, because the provider will repeat it. */
  private reportTooLarge(error: unknown, { channel, id: connectionId }: Connection): never {
    if (isTooLarge(error))
      this.logger.warn({ channel, connectionId }, `a hook's request was refused: ${error.message}`);
    throw error;
  }
}

function isTooLarge(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE';
}
