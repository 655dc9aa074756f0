import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { makeReason } from '../../common/error-texts';
import { Config } from '../../config/config';
import { Metrics } from '../../metrics/metrics';
import { Closable, Release, WorkBudget, WorkLimits } from '../../common/work-budget';

/**
 * Kinds of work that wait for a party outside this service: `exports` for a person who downloads, `lookups`
 * for a name server, `tests` for a webhook receiver, `providers` for a channel's provider, `mails` for a mail
 * server, `uploads`, `visitorUploads` and `downloads` for a client that sends or reads a file. Their slots
 * are counted for each workspace.
 */
export type OutsideKind =
  | 'exports'
  | 'lookups'
  | 'tests'
  | 'providers'
  | 'mails'
  | 'uploads'
  | 'visitorUploads'
  | 'downloads';

/**
 * Kinds of work, each with its own slots. A slot permits one piece of work, and is counted for a key. The key
 * is a connection for `hooks`, a widget's site key for `widget`, a client's network for `passwords`, a
 * visitor for `ownUploads`, and a workspace for all other kinds. `walks` are searches that run several
 * statements.
 */
export type WorkKind =
  | 'requests'
  | 'searches'
  | 'walks'
  | 'hooks'
  | 'widget'
  | 'passwords'
  | 'ownUploads'
  | OutsideKind;

/** Request in progress. It gives its slot of `requests` back while it waits for a party outside. */
interface RequestSlot {
  key: string;
  closable: Closable;
  /** Gives the slot back; null while the request has no slot. */
  release: Release | null;
  /** Settles once the request has a slot again; null while no work of the request waits for one. */
  reacquiring: Promise<void> | null;
  isOver: boolean;
}

/** Longest expected and actual waits for a slot. They are short, because a client can retry instead. */
const SHORT_WAITS = { maxExpectedMs: 800, maxWaitMs: 2_000 };
/** Limits of waiting requests. A workspace may have 500, enough for a minute's 240 requests to two paths. */
const REQUESTS_WAITING = { waiting: 2000, waitingPerKey: 500, ...SHORT_WAITS };
const VISITORS_WAITING = { waiting: 1000, waitingPerKey: 200, ...SHORT_WAITS };
/** Limits of waiting hook requests. They are low, because bodies take memory. Telegram sends 40 at once. */
const HOOKS_WAITING = { waiting: 100, waitingPerKey: 40 };
const SEARCHES_WAITING = { waiting: 200, waitingPerKey: 50 };
/**
 * Slots for searches that run several statements: one for each workspace. `total` has no limit, because each
 * statement also needs a slot of `searches`.
 */
const WALKS: WorkLimits = { total: Infinity, perKey: 1, ...SEARCHES_WAITING };

/** Slots for hashing passwords, few because a hash takes 19 MiB of memory and some 7 ms of a processor. */
const PASSWORDS: WorkLimits = { total: 2, perKey: 1, waiting: 200, waitingPerKey: 20 };

/**
 * Slots for exports, look-ups, tests and mails. They are many, because such work mostly waits for another
 * party. A call that finds no slot is refused at once.
 */
const EXPORTS: WorkLimits = { total: 20, perKey: 2 };
const LOOKUPS: WorkLimits = { total: 100, perKey: 10 };
const TESTS: WorkLimits = { total: 50, perKey: 5 };
const MAILS: WorkLimits = { total: 50, perKey: 5 };
const UPLOADS: WorkLimits = { total: 60, perKey: 20 };
/**
 * Slots for uploads of one visitor. `total` has no limit, because each upload also needs a slot of
 * `visitorUploads`.
 */
const OWN_UPLOADS: WorkLimits = { total: Infinity, perKey: 3 };
/** Slots for downloads. They may wait, because a page asks for all of its pictures at once. */
const DOWNLOADS: WorkLimits = { total: 120, perKey: 40, waiting: 400, waitingPerKey: 100 };

/** Limits of calls to providers. A workspace makes one call at a time; its further calls wait. */
const PROVIDERS_WAITING = { perKey: 1, waiting: 100, waitingPerKey: 10 };
/** Share of the connections to PostgreSQL that calls to providers may occupy until they are answered. */
const PROVIDERS_SHARE = 1 / 3;

export const WORK_NAMES: Record<WorkKind, string> = {
  requests: 'requests of this workspace',
  searches: 'searches of this workspace',
  walks: 'searches of this workspace',
  hooks: 'requests for this connection',
  widget: 'requests for this widget',
  passwords: 'logins from this network',
  exports: 'exports of this workspace',
  lookups: 'look-ups of names for this workspace',
  tests: 'tests of this workspace',
  providers: 'changes of channels of this workspace',
  mails: 'mails of this workspace',
  uploads: 'uploads of this workspace',
  visitorUploads: 'uploads of visitors of this workspace',
  ownUploads: 'uploads of this visitor',
  downloads: 'downloads of this workspace',
};

/**
 * Limits the work that this process does at once, by kind. One workspace, connection or network gets at most
 * half of a kind's slots, and a third or less of the slots of an OutsideKind.
 */
@Injectable()
export class WorkBudgets {
  private readonly budgets: Record<WorkKind, WorkBudget>;
  private readonly requestSlots = new AsyncLocalStorage<RequestSlot>();

  constructor(
    config: Config,
    private readonly metrics: Metrics,
  ) {
    this.budgets = {
      requests: new WorkBudget(limitsOf(config.requestConcurrency, REQUESTS_WAITING)),
      searches: new WorkBudget(limitsOf(config.searchConcurrency, SEARCHES_WAITING)),
      walks: new WorkBudget(WALKS),
      hooks: new WorkBudget(limitsOf(config.hookConcurrency, HOOKS_WAITING)),
      widget: new WorkBudget(limitsOf(config.widgetConcurrency, VISITORS_WAITING)),
      passwords: new WorkBudget(PASSWORDS),
      exports: new WorkBudget(EXPORTS),
      lookups: new WorkBudget(LOOKUPS),
      tests: new WorkBudget(TESTS),
      providers: new WorkBudget({
        total: Math.ceil(config.databasePoolSize * PROVIDERS_SHARE),
        ...PROVIDERS_WAITING,
      }),
      mails: new WorkBudget(MAILS),
      uploads: new WorkBudget(UPLOADS),
      visitorUploads: new WorkBudget(UPLOADS),
      ownUploads: new WorkBudget(OWN_UPLOADS),
      downloads: new WorkBudget(DOWNLOADS),
    };
  }

  /**
   * Acquires a slot. If none is free, it waits up to 2 seconds for `requests` and `widget`, and 10 for other
   * kinds. For exports, look-ups, tests and mails it does not wait.
   * @param closable ends the wait when it closes
   * @throws AppError RATE_LIMITED: the key has all slots that it may have; UNAVAILABLE: no slot is free
   */
  async acquire(kind: WorkKind, key: string, closable?: Closable): Promise<Release> {
    const budget = this.budgets[kind];
    const release = await budget.acquire(key, closable);
    if (release) return release;
    throw this.refuse(kind, key);
  }

  /**
   * Runs the work of a request with a slot of `requests`. Services that the work calls release the slot while
   * they wait for a party outside.
   * @param key id of the workspace
   * @throws AppError as `acquire`; each error of the work
   */
  async runRequest<T>(key: string, closable: Closable, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire('requests', key, closable);
    const slot: RequestSlot = { key, closable, release, reacquiring: null, isOver: false };
    try {
      return await this.requestSlots.run(slot, work);
    } finally {
      slot.isOver = true;
      slot.release?.();
    }
  }

  /**
   * Waits for a party outside this service, with a slot of `kind` instead of one of `requests`.
   * @param key id of the workspace
   * @throws AppError as `acquire`; each error of `wait`
   */
  async waitOutside<T>(kind: OutsideKind, key: string, wait: () => Promise<T>): Promise<T> {
    const release = await this.acquire(kind, key);
    this.releaseSlot();
    try {
      return await wait();
    } finally {
      release();
    }
  }

  /**
   * Releases the slot of the request in progress, if it has one.
   * @internal
   */
  releaseSlot(): void {
    const slot = this.requestSlots.getStore();
    slot?.release?.();
    if (slot) slot.release = null;
  }

  /**
   * Acquires a slot again for the request in progress, unless it has one. If several parts of the request
   * call this at the same time, they acquire one slot together.
   * @throws AppError as `acquire`
   * @internal
   */
  async reacquireSlot(): Promise<void> {
    const slot = this.requestSlots.getStore();
    if (!slot || slot.release) return;
    slot.reacquiring ??= this.reacquire(slot).finally(() => (slot.reacquiring = null));
    await slot.reacquiring;
  }

  /**
   * Refuses work for which this process has no slot and no room to wait, before the work costs anything.
   * @throws AppError UNAVAILABLE
   */
  requireRoom(kind: WorkKind, key: string): void {
    const budget = this.budgets[kind];
    if (budget.isCrowded(key) && !budget.isUsedUp(key)) throw this.refuse(kind, key);
  }

  private async reacquire(slot: RequestSlot): Promise<void> {
    const release = await this.acquire('requests', slot.key, slot.closable);
    // The request may have ended while another part of its work waited.
    if (slot.isOver) release();
    else slot.release = release;
  }

  private refuse(kind: WorkKind, key: string): AppError {
    const budget = this.budgets[kind];
    const isOwn = budget.isUsedUp(key);
    const limit = isOwn ? 'key' : 'process';
    this.metrics.workRefused.inc({ kind, limit });
    const seconds = budget.secondsUntilRoom(key);
    if (!isOwn) return AppError.busy(seconds);
    return AppError.rateLimited(makeReason('too_many_at_once', { work: WORK_NAMES[kind] }), seconds);
  }
}

function limitsOf(total: number, line: Omit<WorkLimits, 'total' | 'perKey'> = {}): WorkLimits {
  return { total, perKey: Math.ceil(total / 2), ...line };
}
