import { Injectable } from '@nestjs/common';
import { EndpointOfKey, KeyRevocation, KeyRevocations } from '../../access/key-revocations';
import { changedValues } from '../../audit/changed-values';
import { Transaction } from '../../database/transaction';
import { EndpointChanges } from './endpoint-changes';
import { WebhookEndpoint } from './webhook-endpoint';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';

/**
 * Deactivates the endpoints of a revoked API key, or hands them over to the key that replaces it. These are
 * the endpoints that the key made or whose URL it set last. It also reports endpoints whose secret the key
 * knows.
 */
@Injectable()
export class EndpointsOfKeys {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly changes: EndpointChanges,
    revocations: KeyRevocations,
  ) {
    revocations.register((tx, revocation) => this.follow(tx, revocation));
  }

  private async follow(tx: Transaction, revocation: KeyRevocation): Promise<EndpointOfKey[]> {
    const { tenantId, keyId, replacedBy, actor } = revocation;
    const followed: EndpointOfKey[] = [];
    for (const endpoint of await this.endpoints.lockOfKey(tx, tenantId, keyId)) {
      const { id, name, url, active, madeById, urlSetById } = endpoint;
      const isOwn = madeById === keyId || urlSetById === keyId;
      if (replacedBy) await this.handOver(tx, endpoint, { ...revocation, replacedBy });
      else if (isOwn && active)
        await this.changes.apply(tx, endpoint, 'deactivate', actor, { metadata: { apiKeyId: keyId } });
      const ended = !isOwn ? 'UNCHANGED' : active ? 'DEACTIVATED' : 'INACTIVE';
      const outcome = replacedBy ? 'HANDED_OVER' : ended;
      followed.push({ id, name, url, outcome, knewSecret: knowsSecret(keyId, endpoint) });
    }
    return followed;
  }

  private async handOver(
    tx: Transaction,
    endpoint: WebhookEndpoint,
    { keyId, replacedBy, actor }: KeyRevocation & { replacedBy: string },
  ): Promise<void> {
    await this.endpoints.handOver(tx, endpoint, keyId, replacedBy);
    const { url, madeById, urlSetById, secretRolledById } = endpoint;
    const newOf = (maker: string | null) => (maker === keyId ? replacedBy : maker);
    const before = { madeById, urlSetById, secretRolledById };
    const after = {
      madeById: newOf(madeById),
      urlSetById: newOf(urlSetById),
      secretRolledById: newOf(secretRolledById),
    };
    this.changes.recordPipelined(tx, endpoint, 'handed_over', actor, {
      ...changedValues(before, after, ['madeById', 'urlSetById', 'secretRolledById']),
      metadata: { url },
    });
  }
}

/** Reports whether a key knows the present secret: it made the endpoint, or rolled the secret last. */
function knowsSecret(keyId: string, endpoint: WebhookEndpoint): boolean {
  const { madeById, secretRolledByType, secretRolledById } = endpoint;
  return (secretRolledByType === null ? madeById : secretRolledById) === keyId;
}
