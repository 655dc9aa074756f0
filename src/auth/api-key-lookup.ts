import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics/metrics';
import { KeyLookup } from '../rate-limit/key-lookup';
import { ApiKeysRepository, Authenticated } from './api-keys.repository';

/** Finds API keys by their hash. */
@Injectable()
export class ApiKeyLookup {
  private readonly lookup: KeyLookup;

  constructor(
    private readonly keys: ApiKeysRepository,
    metrics: Metrics,
  ) {
    this.lookup = new KeyLookup('keys', metrics, async (names) => {
      const active = await keys.findActive(names.map((name) => Buffer.from(name, 'latin1')));
      return active.map((hash) => hash.toString('latin1'));
    });
  }

  /**
   * @returns null for an unknown, expired or revoked key
   * @throws AppError UNAVAILABLE: too many unknown keys wait
   */
  authenticate(hash: Buffer): Promise<Authenticated | null> {
    return this.lookup.find(hash.toString('latin1'), () => this.keys.authenticate(hash));
  }
}
