import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Periodic } from '../common/periodic';
import { Origin, SYSTEM } from '../access/principal';
import { Database } from '../database/database';
import { AuditRecord, AuditService } from './audit.service';

/** Action that strangers can repeat at will, such as a failed login. One audit entry reports many of them. */
export type CountedRecord = Omit<AuditRecord, 'actor' | 'before' | 'after'> & {
  /** Origin of this occurrence. The audit entry stores only the origin of the latest occurrence. */
  origin?: Origin;
};

/** Number of an action's occurrences, and the times of the first and the last occurrence. */
export interface Times {
  count: number;
  since: Date;
  until: Date;
}

interface Counted extends Times {
  record: CountedRecord;
}

const WINDOW_MS = 10 * 60_000;
/** Maximum entities whose actions are counted in ten minutes: in this process, and in one workspace. */
const MAX_THINGS = 10_000;
const MAX_THINGS_OF_WORKSPACE = 50;

/**
 * Counts the actions of strangers. Every ten minutes it appends one audit entry for each action on each
 * entity, so that strangers cannot flood a workspace's `audit.event` webhooks. Each process counts by itself;
 * a process that is killed loses its counts.
 */
@Injectable()
export class AuditTally implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AuditTally.name);
  private counted = new Map<string, Map<string, Counted>>();
  private things = 0;
  private dropped = 0;
  private readonly sources: (() => Promise<void>)[] = [];
  private readonly flushes = new Periodic(
    WINDOW_MS,
    () => this.flush(),
    (error) => this.report(error),
  );

  constructor(
    private readonly database: Database,
    private readonly audit: AuditService,
  ) {}

  onApplicationBootstrap(): void {
    this.flushes.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flushes.stop();
    await this.flush().catch((error: Error) => this.report(error));
  }

  /**
   * Registers a function that is called before each flush, and adds counts of its own.
   * @internal
   */
  addSource(source: () => Promise<void>): void {
    this.sources.push(source);
  }

  /**
   * Counts an action, such as an agent's failed login. Never throws, and stores nothing until the next flush.
   * In ten minutes, 50 entities of a workspace are counted separately. An action on any further entity counts
   * as an action on the workspace.
   * @param times number and times of the occurrences; by default one occurrence, now
   */
  countAction(record: CountedRecord, times: Times = once()): void {
    const ofWorkspace = this.counted.get(record.tenantId) ?? new Map<string, Counted>();
    const key = keyOf(record);
    const before = ofWorkspace.get(key);
    if (!before && record.entity !== 'workspace' && ofWorkspace.size >= MAX_THINGS_OF_WORKSPACE)
      return this.countAction(inWorkspace(record), times);
    if (!before && this.things >= MAX_THINGS) return void (this.dropped += times.count);
    if (!before) this.things += 1;
    ofWorkspace.set(key, { record, ...(before ? sum(before, times) : times) });
    this.counted.set(record.tenantId, ofWorkspace);
  }

  /**
   * Appends the counts to the audit log, in one transaction for each workspace. Keeps the counts of a failed
   * transaction for the next flush. Runs every ten minutes, and when the process ends.
   */
  async flush(): Promise<void> {
    for (const source of this.sources) await source().catch((error: Error) => this.report(error));
    const { counted, dropped } = this;
    this.counted = new Map();
    this.things = 0;
    this.dropped = 0;
    if (dropped > 0)
      this.logger.warn({ dropped }, 'too many things to count: some were left out of the audit log');
    for (const ofWorkspace of counted.values()) {
      try {
        await this.write([...ofWorkspace.values()]);
      } catch (error) {
        if (error instanceof AppError) continue; // The workspace does not exist.
        for (const { record, ...times } of ofWorkspace.values()) this.countAction(record, times);
        this.logger.warn({ err: error as Error }, 'counts were not written to the audit log; they will be');
      }
    }
  }

  private report(error: Error): void {
    this.logger.error({ err: error }, 'counts were not written to the audit log');
  }

  private write(counted: Counted[]): Promise<void> {
    return this.database.transaction((tx) => {
      for (const { record, count, since, until } of counted) {
        const { origin, metadata, ...what } = record;
        const times = { count, since: since.toISOString(), until: until.toISOString() };
        const actor = { ...SYSTEM, origin };
        this.audit.appendPipelined(tx, { ...what, actor, metadata: { ...metadata, ...times } });
      }
    });
  }
}

function keyOf({ action, entity, entityId }: CountedRecord): string {
  return JSON.stringify([action, entity, entityId]);
}

function inWorkspace({ tenantId, action, origin }: CountedRecord): CountedRecord {
  return { tenantId, action, entity: 'workspace', entityId: tenantId, origin };
}

export function once(): Times {
  const now = new Date();
  return { count: 1, since: now, until: now };
}

export function sum(a: Times, b: Times): Times {
  const since = a.since < b.since ? a.since : b.since;
  const until = a.until > b.until ? a.until : b.until;
  return { count: a.count + b.count, since, until };
}
