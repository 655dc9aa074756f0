import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../common/app-error';
import { Metrics } from '../metrics/metrics';
import { clientNetworkOf } from './client-network';
import { Connections } from './connections';
import { EventStream } from './event-stream';

const MAX_PER_CALLER = 10;
/** Limit of open streams from one address, which may be the address of an office or a school. */
const MAX_PER_ADDRESS = 500;
const RETRY_AFTER_SECONDS = 15;

/** The workspace and the caller that a stream is counted for. */
export interface StreamOwner {
  /** A workspace, or one of its widgets. It has at most half of the process's streams. */
  workspace: string;
  /** A person or visitor. It has at most 10 streams of the process. */
  caller: string;
}

/**
 * Opens streams of server-sent events, within the caps of caller, address, workspace and process, and ends
 * all of them at shutdown. Streams are counted apart from requests: a stream takes memory, but no connection
 * of the cap and no slot of a work budget.
 */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<EventStream>();
  /** Open streams by workspace, caller and address. */
  private readonly counts = new Map<string, number>();
  private max = 0;
  private isStopping = false;

  constructor(
    private readonly connections: Connections,
    private readonly metrics: Metrics,
  ) {}

  /** Sets the number of streams that the process may have. Before the first call there may be none. */
  setLimit(max: number): void {
    this.max = max;
  }

  /**
   * Makes a route's response a stream. Call `begin` on it when everything is ready to send.
   * @throws AppError RATE_LIMITED: the caller, address or workspace has too many streams; UNAVAILABLE: the
   *   process has too many, or it stops
   */
  start(response: Response, { workspace, caller }: StreamOwner): EventStream {
    if (this.isStopping) throw new AppError('UNAVAILABLE', 'The process is stopping. Connect again.');
    const caps: [key: string, max: number][] = [
      [`workspace ${workspace}`, Math.ceil(this.max / 2)],
      [`caller ${caller}`, MAX_PER_CALLER],
      [`address ${clientNetworkOf(response.req)}`, MAX_PER_ADDRESS],
    ];
    if (caps.some(([key, max]) => this.countOf(key) >= max))
      throw this.makeRefusal('key', 'RATE_LIMITED', 'Too many streams at once. Close one, or retry later.');
    if (this.open.size >= this.max)
      throw this.makeRefusal('process', 'UNAVAILABLE', 'The service is busy. Retry shortly.');
    const stream = new EventStream(response);
    this.open.add(stream);
    for (const [key] of caps) this.counts.set(key, this.countOf(key) + 1);
    this.connections.countAsStream(stream.socket);
    stream.onEnd(() => {
      this.open.delete(stream);
      for (const [key] of caps) this.release(key);
    });
    return stream;
  }

  /** Ends every stream and opens no more. Open streams would keep the process from stopping for hours. */
  stop(): void {
    this.isStopping = true;
    for (const stream of this.open) stream.end('server_stopping');
  }

  beforeApplicationShutdown(): void {
    this.stop();
  }

  private countOf(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  private release(key: string): void {
    const left = this.countOf(key) - 1;
    if (left > 0) this.counts.set(key, left);
    else this.counts.delete(key);
  }

  private makeRefusal(
    limit: 'key' | 'process',
    code: 'RATE_LIMITED' | 'UNAVAILABLE',
    message: string,
  ): AppError {
    this.metrics.workRefused.inc({ kind: 'streams', limit });
    return new AppError(code, message, undefined, RETRY_AFTER_SECONDS);
  }
}
