import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../common/app-error';
import { Batcher } from '../../common/batcher';
import { Metrics } from '../../metrics/metrics';

/** Limit of the unknown keys that one statement looks up. */
const BATCH = 500;
/** Milliseconds to wait before the next look-up of unknown keys, after an invalid key was found. */
const PAUSE_MS = 50;
/** Limit of the requests that wait for a look-up. It is low, because the body of each is in memory. */
const MAX_WAITING = 1_000;
const MAX_ACCEPTED = 10_000;

/** Stored key, which may be invalid by now, and its owner. */
export interface FoundKey<Owner> {
  key: Buffer;
  owner: Owner;
}

/**
 * Looks keys up so that forged keys can't overload PostgreSQL. Keys that this process has not accepted yet
 * are looked up in batches, so a flood of them costs 20 statements a second, on one connection. No key is
 * refused without a look-up, so a valid key passes during an attack. Owners of accepted keys are kept in
 * memory, because the owner of a key never changes.
 */
export class KeyLookup<Owner> {
  /** Owners of accepted keys, by key as latin1 text: one character for each byte. */
  private readonly accepted = new Map<string, Owner>();
  private readonly unknown = new Batcher<Buffer, Owner | null>(BATCH, (keys) => this.lookUp(keys));
  private waiting = 0;
  private pauseUntil = 0;

  /** @param findKnown returns the stored keys among the given ones; some may be invalid by now */
  constructor(
    private readonly kind: 'keys' | 'hooks' | 'sessions',
    private readonly metrics: Metrics,
    private readonly findKnown: (keys: Buffer[]) => Promise<FoundKey<Owner>[]>,
  ) {}

  /**
   * Reads the thing to which a key gives access. Each call runs `read`, so that a revocation takes effect at
   * once.
   * @param read reads by the owner of the key; returns null if the key is not valid any more
   * @returns null for an invalid key
   * @throws AppError UNAVAILABLE: too many requests with unknown keys wait
   */
  async find<Found>(key: Buffer, read: (owner: Owner) => Promise<Found | null>): Promise<Found | null> {
    const name = nameOf(key);
    const owner = this.accepted.get(name) ?? (await this.findUnknown(key));
    if (owner === null) return null;
    const found = await read(owner);
    if (found) this.remember(name, owner);
    else {
      this.accepted.delete(name);
      this.pause();
    }
    return found;
  }

  findAccepted(key: Buffer): Owner | null {
    return this.accepted.get(nameOf(key)) ?? null;
  }

  private async findUnknown(key: Buffer): Promise<Owner | null> {
    if (this.waiting >= MAX_WAITING) {
      this.metrics.workRefused.inc({ kind: this.kind, limit: 'process' });
      throw AppError.busy();
    }
    this.waiting += 1;
    return this.unknown.submit(key).finally(() => (this.waiting -= 1));
  }

  private async lookUp(keys: Buffer[]): Promise<(Owner | null)[]> {
    const pauseMs = this.pauseUntil - performance.now();
    if (pauseMs > 0) await sleep(pauseMs);
    const owners = new Map((await this.findKnown(keys)).map(({ key, owner }) => [nameOf(key), owner]));
    if (owners.size < keys.length) this.pause();
    return keys.map((key) => owners.get(nameOf(key)) ?? null);
  }

  private pause(): void {
    this.pauseUntil = performance.now() + PAUSE_MS;
  }

  private remember(name: string, owner: Owner): void {
    const [oldest] = this.accepted.keys();
    if (this.accepted.size >= MAX_ACCEPTED && !this.accepted.has(name)) this.accepted.delete(oldest!);
    this.accepted.set(name, owner);
  }
}

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}
