import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { eventCatalog } from '../../outbox/event-catalog';
import { isEntitled } from '../../workspaces/plan-policy';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { isSubscribed } from './webhook-endpoint.dto';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

@Injectable()
export class EndpointSubscription {
  constructor(private readonly workspaces: WorkspacesRepository) {}

  /** The event types of an endpoint's subscription that its workspace's plan allows, without tests. */
  async typesOf(tx: Transaction, { tenantId, events }: WebhookEndpointEntity): Promise<string[]> {
    const [workspace] = await this.workspaces.findMany(tx, [tenantId]);
    const isAudited = workspace !== undefined && isEntitled(workspace, 'auditWebhookExport');
    return Object.keys(eventCatalog)
      .filter((type) => type !== 'webhook.test' && (type !== 'audit.event' || isAudited))
      .filter((type) => isSubscribed(events, type));
  }
}
