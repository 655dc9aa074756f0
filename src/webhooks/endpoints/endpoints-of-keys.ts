import { Injectable } from '@nestjs/common';
import { EndpointOfKey, KeyRevocation, KeyRevocations } from '../../access/key-revocations';
import { AuditService } from '../../audit/audit.service';
import { changedValues } from '../../audit/changed-values';
import { Transaction } from '../../database/transaction';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';

/**
 * Deactivates the endpoints of a key that has leaked, or gives them to the key that replaces it: those that
 * the key made, and those whose URL it set last.
 */
@Injectable()
export class EndpointsOfKeys {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly service: WebhookEndpointsService,
    private readonly audit: AuditService,
    revocations: KeyRevocations,
  ) {
    revocations.register((tx, revocation) => this.follow(tx, revocation));
  }

  private async follow(tx: Transaction, revocation: KeyRevocation): Promise<EndpointOfKey[]> {
    const { tenantId, keyId, replacedBy, actor } = revocation;
    const followed: EndpointOfKey[] = [];
    for (const endpoint of await this.endpoints.lockOfKey(tx, tenantId, keyId)) {
      const { id, name, url, active } = endpoint;
      if (replacedBy) await this.handOver(tx, endpoint, { ...revocation, replacedBy });
      else if (active) await this.service.deactivateOfKey(tx, endpoint, keyId, actor);
      const outcome = replacedBy ? 'HANDED_OVER' : active ? 'DEACTIVATED' : 'INACTIVE';
      followed.push({ id, name, url, outcome });
    }
    return followed;
  }

  private async handOver(
    tx: Transaction,
    endpoint: WebhookEndpointEntity,
    { tenantId, keyId, replacedBy, actor }: KeyRevocation & { replacedBy: string },
  ): Promise<void> {
    await this.endpoints.handOver(tx, endpoint, keyId, replacedBy);
    const { id, url, madeById, urlSetById } = endpoint;
    const newOf = (maker: string | null) => (maker === keyId ? replacedBy : maker);
    const before = { madeById, urlSetById };
    const after = { madeById: newOf(madeById), urlSetById: newOf(urlSetById) };
    this.audit.appendPipelined(tx, {
      tenantId,
      actor,
      entity: 'webhook_endpoint',
      entityId: id,
      action: 'webhook_endpoint.handed_over',
      ...changedValues(before, after, ['madeById', 'urlSetById']),
      metadata: { url },
    });
  }
}
