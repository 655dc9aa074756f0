import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error';
import { Metrics } from '../../metrics/metrics';
import { limitedNetworksOf } from '../connections/client-network';
import { Connections } from '../connections/connections';
import { EventStream } from './event-stream';

const MAX_PER_CALLER = 10;
/**
 * Limit of open streams from one address, which may be the address of an office or a school. The /56 and /48
 * of an IPv6 address have limits too.
 */
const MAX_PER_ADDRESS = 500;
const RETRY_AFTER_SECONDS = 15;

/** The workspace and the caller that a stream is counted for. */
export interface StreamOwner {
  /** A workspace, or one of its widgets. It has at most half of the process's streams. */
  workspace: string;
  /** A person or visitor. It has at most 10 streams of the process. */
  caller: string;
}

type Cap = [key: string, max: number];
/** Caps that a stream counts for, that of its workspace first. */
type Caps = [Cap, ...Cap[]];

/**
 * Opens streams of server-sent events, within the caps of caller, address, workspace and process, and ends
 * all of them at shutdown. Streams are counted apart from requests: a stream takes memory, but no connection
 * of the cap and no slot of a work budget. A stream that matters may cut off another one that may give way.
 * If the workspace has no room, it is one of the workspace's own. If the process has no room, it may be one
 * of a workspace with more streams.
 */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  /** Open streams, the oldest first, each with the caps that it counts for. */
  private readonly open = new Map<EventStream, Caps>();
  /** Open streams by workspace, caller and network. */
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

  /** Reports whether a stream of a workspace is opened only if another one gives way. */
  isFull(workspace: string): boolean {
    return this.open.size >= this.max || isReached(this.capOf(workspace), this.counts);
  }

  /**
   * Makes a route's response a stream. Call `begin` on it when everything is ready to send.
   * @param matters whether the workspace's oldest stream that may give way is cut off when there is no room
   * @throws AppError RATE_LIMITED: the caller, address or workspace has too many streams; UNAVAILABLE: the
   *   process has too many, or it stops
   */
  start(response: Response, { workspace, caller }: StreamOwner, matters = false): EventStream {
    if (this.isStopping) throw new AppError('UNAVAILABLE', 'The process is stopping. Connect again.');
    const networks = limitedNetworksOf(response.req.ip ?? 'unknown', MAX_PER_ADDRESS);
    const ofWorkspace = this.capOf(workspace);
    const caps: Cap[] = [
      [`caller ${caller}`, MAX_PER_CALLER],
      ...networks.map(([network, max]): Cap => [`network ${network}`, max]),
    ];
    if (caps.some((cap) => isReached(cap, this.counts))) throw this.refuse();
    const own = matters ? this.findOldest(ofWorkspace) : undefined;
    if (isReached(ofWorkspace, this.counts) && !this.cut(own)) throw this.refuse();
    if (this.open.size >= this.max && !this.cut(own ?? this.findOfLarger(ofWorkspace, matters)))
      throw this.makeRefusal('process', 'UNAVAILABLE', 'The service is busy. Retry shortly.');
    const stream = new EventStream(response);
    this.count(stream, [ofWorkspace, ...caps]);
    this.connections.countAsStream(stream.socket);
    stream.onEnd(() => this.release(stream));
    return stream;
  }

  /** Makes the refusal of a caller, address or workspace that has too many streams. */
  refuse(): AppError {
    return this.makeRefusal('key', 'RATE_LIMITED', 'Too many streams at once. Close one, or retry later.');
  }

  /** Ends every stream and opens no more. Open streams would keep the process from stopping for hours. */
  stop(): void {
    this.isStopping = true;
    for (const stream of this.open.keys()) stream.end('server_stopping');
  }

  beforeApplicationShutdown(): void {
    this.stop();
  }

  private capOf(workspace: string): Cap {
    return [`workspace ${workspace}`, Math.ceil(this.max / 2)];
  }

  /** Finds the oldest stream of a workspace that may give way. */
  private findOldest([workspace]: Cap): EventStream | undefined {
    for (const [stream, [[own]]] of this.open) if (own === workspace && stream.mayGiveWay) return stream;
    return undefined;
  }

  /**
   * Finds the oldest stream that may give way, of the workspace with the most streams. That workspace must
   * have more streams than the other. For a stream that does not matter it must have two more, or the two
   * workspaces would cut off each other's streams in turn.
   */
  private findOfLarger([workspace]: Cap, matters: boolean): EventStream | undefined {
    let most = (this.counts.get(workspace) ?? 0) + (matters ? 0 : 1);
    let found: EventStream | undefined;
    for (const [stream, [[other]]] of this.open) {
      const count = this.counts.get(other)!;
      if (!stream.mayGiveWay || count <= most) continue;
      most = count;
      found = stream;
    }
    return found;
  }

  /** Cuts off a stream, and reports whether there was one. */
  private cut(stream: EventStream | undefined): boolean {
    if (!stream) return false;
    this.metrics.httpConnectionsClosed.inc({ reason: 'evicted' });
    this.release(stream);
    stream.cut();
    return true;
  }

  private count(stream: EventStream, caps: Caps): void {
    this.open.set(stream, caps);
    for (const [key] of caps) this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  private release(stream: EventStream): void {
    const caps = this.open.get(stream) ?? [];
    this.open.delete(stream);
    for (const [key] of caps) {
      const left = this.counts.get(key)! - 1;
      if (left > 0) this.counts.set(key, left);
      else this.counts.delete(key);
    }
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

function isReached([key, max]: Cap, counts: ReadonlyMap<string, number>): boolean {
  return (counts.get(key) ?? 0) >= max;
}
