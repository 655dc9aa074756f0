import { setTimeout as sleep } from 'node:timers/promises';
import { EventStream } from './event-stream';
import { StreamOwner } from './event-streams';

/**
 * Longest time, in milliseconds, for which a new stream waits until this process listens to Redis. Events
 * that it misses without Redis are found in the database later.
 */
const LISTEN_MS = 100;

/** Waits, for at most 100 ms, until this process listens to Redis for the events of a stream. */
export async function awaitListening(listening: Promise<void> | null): Promise<void> {
  await Promise.race([listening, sleep(LISTEN_MS, undefined, { ref: false })]);
}

/** Holds the streams of one caller, one for each browser tab. Each event is read once for all of them. */
export class StreamGroup<Context> {
  readonly streams = new Set<EventStream>();
  private lastWork: Promise<unknown> = Promise.resolve();

  constructor(
    readonly owner: StreamOwner,
    readonly context: Context,
  ) {}

  /** Runs work after all earlier work of the group, so that events are sent in the order of their reads. */
  runInOrder(work: () => Promise<void>): Promise<void> {
    const done = this.lastWork.then(work);
    this.lastWork = done.catch(() => undefined);
    return done;
  }

  send(event: string, id: number, data: object): void {
    for (const stream of this.streams) stream.send(event, id, data);
  }

  end(reason: string): void {
    for (const stream of this.streams) stream.end(reason);
  }
}

/** Keeps the open streams of one feature in this process, and finds them by caller and workspace. */
export class StreamGroups<Context> {
  private readonly byCaller = new Map<string, StreamGroup<Context>>();
  private readonly byWorkspace = new Map<string, Set<StreamGroup<Context>>>();

  list(): StreamGroup<Context>[] {
    return [...this.byCaller.values()];
  }

  listInWorkspace(workspace: string): Iterable<StreamGroup<Context>> {
    return this.byWorkspace.get(workspace) ?? [];
  }

  isOnlyOneInWorkspace({ owner }: StreamGroup<Context>): boolean {
    return this.byWorkspace.get(owner.workspace)?.size === 1;
  }

  /** Adds a stream to the group of its caller. If the group is new, `createContext` makes its context. */
  join(owner: StreamOwner, stream: EventStream, createContext: () => Context): StreamGroup<Context> {
    const { caller, workspace } = owner;
    const group = this.byCaller.get(caller) ?? new StreamGroup(owner, createContext());
    group.streams.add(stream);
    this.byCaller.set(caller, group);
    const others = this.byWorkspace.get(workspace) ?? new Set();
    this.byWorkspace.set(workspace, others.add(group));
    return group;
  }

  /** Removes a stream from its group. A group without streams is removed as well. */
  leave(group: StreamGroup<Context>, stream: EventStream): void {
    group.streams.delete(stream);
    if (group.streams.size > 0) return;
    const { caller, workspace } = group.owner;
    this.byCaller.delete(caller);
    const others = this.byWorkspace.get(workspace)!;
    others.delete(group);
    if (others.size === 0) this.byWorkspace.delete(workspace);
  }
}
