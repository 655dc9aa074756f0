import { AppError } from '../../common/app-error';
import { EndReason, EventStream } from './event-stream';
import { VisitorKey } from './visitors.repository';

/** In this process: tabs of one visitor, and visitors behind one address, offices and schools among them. */
const MAX_PER_VISITOR = 10;
const MAX_PER_ADDRESS = 500;
const RETRY_AFTER_SECONDS = 15;

/** One visitor's streams: each of their tabs has one. What is told to them is told in order. */
export class StreamGroup {
  readonly streams = new Set<EventStream>();
  private version: string | null = null;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(readonly key: VisitorKey) {}

  /** Does one thing after the other, so that nothing which is read later is told earlier. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }

  /** A stream begins under this version of the widget. */
  begin(version: string): void {
    this.version ??= version;
  }

  /** Whether the widget has changed since the first of these streams began. */
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

/** The streams of one process, by visitor, and how many there may be. */
export class StreamGroups {
  private readonly groups = new Map<string, StreamGroup>();
  private readonly countByAddress = new Map<string, number>();

  all(): StreamGroup[] {
    return [...this.groups.values()];
  }

  get(key: VisitorKey): StreamGroup | undefined {
    return this.groups.get(nameOf(key));
  }

  /** @throws AppError RATE_LIMITED */
  add(key: VisitorKey, address: string, stream: EventStream): StreamGroup {
    const group = this.get(key) ?? new StreamGroup(key);
    const fromAddress = this.countByAddress.get(address) ?? 0;
    if (group.streams.size >= MAX_PER_VISITOR || fromAddress >= MAX_PER_ADDRESS) {
      stream.retryAfter(RETRY_AFTER_SECONDS);
      throw new AppError('RATE_LIMITED', 'Too many streams at once. Close one, or retry later.');
    }
    group.streams.add(stream);
    this.groups.set(nameOf(key), group);
    this.countByAddress.set(address, fromAddress + 1);
    return group;
  }

  remove(group: StreamGroup, address: string, stream: EventStream): void {
    group.streams.delete(stream);
    if (group.streams.size === 0) this.groups.delete(nameOf(group.key));
    const left = this.countByAddress.get(address)! - 1;
    if (left > 0) this.countByAddress.set(address, left);
    else this.countByAddress.delete(address);
  }
}

/** One text for one visitor: an id has no space in it. */
export function nameOf({ connectionId, externalId }: VisitorKey): string {
  return `${connectionId} ${externalId}`;
}
