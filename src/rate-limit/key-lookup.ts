import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../common/app-error';
import { Batcher } from '../common/batcher';
import { Metrics } from '../metrics/metrics';

/** Number of unknown keys that one statement looks up at most. */
const BATCH = 500;
/** Time between two statements that look unknown keys up, after one that found an invalid key. */
const PAUSE_MS = 50;
/** Number of requests with unknown keys that may wait. */
const MAX_WAITING = 5_000;
/** Number of accepted keys that this process remembers. */
const MAX_ACCEPTED = 10_000;

/**
 * Keeps forged keys from PostgreSQL. A key that this process has not accepted yet is looked up together with
 * others: a flood of unknown keys costs 20 statements a second, on one connection. No key is refused before
 * it is looked up, so a valid key from an attacker's address passes, at most a moment later.
 */
export class KeyLookup<Found> {
  /** Owners of the keys that this process has accepted, by key as latin1: a character for every byte. */
  private readonly accepted = new Map<string, string | null>();
  private readonly unknown = new Batcher<Buffer, boolean>(BATCH, (keys) => this.areValid(keys));
  private waiting = 0;
  private pauseUntil = 0;

  /**
   * Makes a lookup that has accepted no key yet.
   * @param findValid returns those of the keys that are valid
   * @param ownerOf returns the id of the workspace that a key belongs to, if `findOwner` is used
   */
  constructor(
    private readonly kind: 'keys' | 'hooks' | 'sessions',
    private readonly metrics: Metrics,
    private readonly findValid: (keys: Buffer[]) => Promise<Buffer[]>,
    private readonly ownerOf: (found: Found) => string | null = () => null,
  ) {}

  /**
   * Looks a key up. It reads the key on every call, so that a revocation takes effect at once.
   * @param read reads what the key opens
   * @returns null for an invalid key
   * @throws AppError UNAVAILABLE: too many unknown keys wait
   */
  async find(key: Buffer, read: () => Promise<Found | null>): Promise<Found | null> {
    const name = nameOf(key);
    if (!this.accepted.has(name) && !(await this.isValid(key))) return null;
    const found = await read();
    if (found) this.remember(name, this.ownerOf(found));
    else this.accepted.delete(name);
    return found;
  }

  /** Returns the owner of a key that this process has accepted; null for any other key. */
  findOwner(key: Buffer): string | null {
    return this.accepted.get(nameOf(key)) ?? null;
  }

  private async isValid(key: Buffer): Promise<boolean> {
    if (this.waiting >= MAX_WAITING) {
      this.metrics.workRefused.inc({ kind: this.kind, limit: 'process' });
      throw AppError.busy();
    }
    this.waiting += 1;
    return this.unknown.submit(key).finally(() => (this.waiting -= 1));
  }

  private async areValid(keys: Buffer[]): Promise<boolean[]> {
    const pauseMs = this.pauseUntil - performance.now();
    if (pauseMs > 0) await sleep(pauseMs);
    const valid = new Set((await this.findValid(keys)).map(nameOf));
    if (valid.size < keys.length) this.pauseUntil = performance.now() + PAUSE_MS;
    return keys.map((key) => valid.has(nameOf(key)));
  }

  private remember(name: string, owner: string | null): void {
    const [oldest] = this.accepted.keys();
    if (this.accepted.size >= MAX_ACCEPTED && !this.accepted.has(name)) this.accepted.delete(oldest!);
    this.accepted.set(name, owner);
  }
}

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}
