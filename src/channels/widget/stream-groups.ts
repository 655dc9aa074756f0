import { AppError } from '../../common/app-error';
import { EndReason, EventStream } from './event-stream';
import { VisitorKey } from './visitors.repository';

/** In this process. Many visitors may share one address, such as an office or a school. */
const MAX_PER_VISITOR = 10;
const MAX_PER_ADDRESS = 500;
export const RETRY_AFTER_SECONDS = 15;

/** One visitor's streams, one for each tab. */
export class StreamGroup {
  readonly streams = new Set<EventStream>();
  /** Settles once this process hears of each message to the visitor; null before it listens. */
  listening: Promise<void> | null = null;
  private version: string | null = null;
  private lastWork: Promise<unknown> = Promise.resolve();

  constructor(readonly key: VisitorKey) {}

  /** Serializes work, so that events are sent in the order in which they were read. */
  runInOrder(work: () => Promise<void>): Promise<void> {
    const done = this.lastWork.then(work);
    this.lastWork = done.catch(() => undefined);
    return done;
  }

  setVersionOnce(version: string): void {
    this.version ??= version;
  }

  /** True when the widget has changed since the first stream began. */
  isOutdated(version: string): boolean {
    return this.version !== null && this.version !== version;
  }

  send(event: string, id: number, data: object): void {
    for (const stream of this.streams) stream.send(event, id, data);
  }

  end(reason: EndReason): void {
    for (const stream of this.streams) stream.end(reason);
  }
}

/** The streams of one process, by visitor and by widget. Limits their number. */
export class StreamGroups {
  private readonly groups = new Map<string, StreamGroup>();
  private readonly byWidget = new Map<string, Set<StreamGroup>>();
  private readonly countByAddress = new Map<string, number>();

  all(): StreamGroup[] {
    return [...this.groups.values()];
  }

  ofWidget(connectionId: string): Iterable<StreamGroup> {
    return this.byWidget.get(connectionId) ?? [];
  }

  isOnlyOneOfWidget({ key }: StreamGroup): boolean {
    return this.byWidget.get(key.connectionId)?.size === 1;
  }

  /** @throws AppError RATE_LIMITED */
  add(key: VisitorKey, address: string, stream: EventStream): StreamGroup {
    const group = this.groups.get(textKeyOf(key)) ?? new StreamGroup(key);
    const fromAddress = this.countByAddress.get(address) ?? 0;
    if (group.streams.size >= MAX_PER_VISITOR || fromAddress >= MAX_PER_ADDRESS) {
      stream.retryAfter(RETRY_AFTER_SECONDS);
      throw new AppError('RATE_LIMITED', 'Too many streams at once. Close one, or retry later.');
    }
    group.streams.add(stream);
    this.groups.set(textKeyOf(key), group);
    const ofWidget = this.byWidget.get(key.connectionId) ?? new Set();
    this.byWidget.set(key.connectionId, ofWidget.add(group));
    this.countByAddress.set(address, fromAddress + 1);
    return group;
  }

  remove(group: StreamGroup, address: string, stream: EventStream): void {
    group.streams.delete(stream);
    if (group.streams.size === 0) this.forget(group);
    const left = this.countByAddress.get(address)! - 1;
    if (left > 0) this.countByAddress.set(address, left);
    else this.countByAddress.delete(address);
  }

  private forget(group: StreamGroup): void {
    const { connectionId } = group.key;
    this.groups.delete(textKeyOf(group.key));
    const ofWidget = this.byWidget.get(connectionId)!;
    ofWidget.delete(group);
    if (ofWidget.size === 0) this.byWidget.delete(connectionId);
  }
}

/** Unique, because a connection id has no space. */
export function textKeyOf({ connectionId, externalId }: Omit<VisitorKey, 'tenantId'>): string {
  return `${connectionId} ${externalId}`;
}
