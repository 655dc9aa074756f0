import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error';
import { Metrics } from '../../metrics/metrics';
import { limitedNetworksOf } from '../connections/client-network';
import { Connections } from '../connections/connections';
import { EventStream } from './event-stream';

const MAX_PER_CALLER = 10;
/** Limit of the streams from one IPv4 address or IPv6 /64. It is higher for an IPv6 /56 or /48. */
const MAX_PER_ADDRESS = 500;
const RETRY_AFTER_SECONDS = 15;

export interface StreamOwner {
  /** Name of a workspace, or of one of its widgets. It may have at most half of the process's streams. */
  workspace: string;
  /** Name of a person or visitor, who may have at most 10 streams in the process. */
  caller: string;
}

type Cap = [key: string, max: number];
/** Limits against which a stream counts; the first is the limit of its workspace. */
type Caps = [Cap, ...Cap[]];

/**
 * Opens streams of server-sent events, limits their number by caller, network, workspace and process, and
 * ends all of them at shutdown. A stream takes no slot of `WorkBudgets`, and does not count against the limit
 * of connections. If there is no room, a new stream may replace an older one whose `mayGiveWay` is set.
 */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  /** Open streams, the oldest first, each with the limits against which it counts. */
  private readonly open = new Map<EventStream, Caps>();
  /** Numbers of open streams by workspace, caller and network. */
  private readonly counts = new Map<string, number>();
  private max = 0;
  private isStopping = false;

  constructor(
    private readonly connections: Connections,
    private readonly metrics: Metrics,
  ) {}

  /** Sets the number of streams that the process may have; 0 before the first call. */
  setLimit(max: number): void {
    this.max = max;
  }

  /** Reports whether the process or the workspace has as many streams as it may have. */
  isFull(workspace: string): boolean {
    return this.open.size >= this.max || isReached(this.capOf(workspace), this.counts);
  }

  /**
   * Makes a route's response a stream. Call `begin` on the stream when everything is ready to send.
   * @param matters whether the stream may replace the oldest stream of its workspace that has `mayGiveWay`,
   *   if there is no room
   * @throws AppError RATE_LIMITED: the caller, address or workspace has too many streams; UNAVAILABLE: the
   *   process has too many, or is stopping
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

  /** Returns the error for too many streams of a caller, address or workspace, and counts the refusal. */
  refuse(): AppError {
    return this.makeRefusal('key', 'RATE_LIMITED', 'Too many streams at once. Close one, or retry later.');
  }

  /** Ends every stream and opens no more, because streams could delay the process's end for hours. */
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

  /** Finds the workspace's oldest stream that may be replaced. */
  private findOldest([workspace]: Cap): EventStream | undefined {
    for (const [stream, [[own]]] of this.open) if (own === workspace && stream.mayGiveWay) return stream;
    return undefined;
  }

  /**
   * Finds a stream that a new stream of `workspace` may replace: the oldest one of the workspace with the
   * most streams. That workspace must have more streams than `workspace`, and at least two more if the new
   * stream does not matter. Otherwise the two workspaces would replace each other's streams in turn.
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
