import { Injectable, OnModuleInit } from '@nestjs/common';
import { AuditTally, once, sum, Times } from '../audit/audit-tally';
import { Origin } from '../access/principal';
import { Metrics } from '../metrics/metrics';
import { ApiKeysRepository } from './api-keys.repository';

/** Limit of the different keys that the audit log counts in ten minutes. The metric has no such limit. */
const MAX_KEYS = 1_000;

interface Refusals extends Times {
  hash: Buffer;
  origin: Origin;
}

/**
 * Counts refused API keys for the audit log. Every ten minutes it adds one entry for each refused key that
 * belongs to a workspace, such as a revoked key. All forged keys together cost one read of the database in
 * ten minutes.
 */
@Injectable()
export class RefusedApiKeys implements OnModuleInit {
  private refusals = new Map<string, Refusals>();

  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly tally: AuditTally,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.tally.addSource(() => this.addToTally());
  }

  /**
   * Counts a refusal.
   * @param hash hash of a well-formed key; null for any other text
   */
  count(hash: Buffer | null, origin: Origin): void {
    this.metrics.apiKeysRefused.inc({ reason: hash ? 'refused' : 'malformed' });
    if (!hash) return;
    this.add({ hash, origin, ...once() });
  }

  private add(refusals: Refusals): void {
    const id = refusals.hash.toString('base64');
    const before = this.refusals.get(id);
    if (!before && this.refusals.size >= MAX_KEYS) return;
    this.refusals.set(id, { ...refusals, ...(before && sum(before, refusals)) });
  }

  private async addToTally(): Promise<void> {
    if (this.refusals.size === 0) return;
    const { refusals } = this;
    this.refusals = new Map();
    const hashes = [...refusals.values()].map(({ hash }) => hash);
    const known = await this.keys.findByHashes(hashes).catch((error: unknown) => {
      for (const one of refusals.values()) this.add(one);
      throw error;
    });
    for (const { tenantId, id: entityId, name, hash, reason } of known) {
      const { origin, count, since, until } = refusals.get(hash.toString('base64'))!;
      this.tally.countAction(
        {
          tenantId,
          action: 'api_key.refused',
          entity: 'api_key',
          entityId,
          origin,
          metadata: { name, reason },
        },
        { count, since, until },
      );
    }
  }
}
