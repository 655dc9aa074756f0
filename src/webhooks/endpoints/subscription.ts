import { Injectable } from '@nestjs/common';
import { Reader } from '../../database/database';
import { eventCatalog } from '../../outbox/event-catalog';
import { isEntitled } from '../../workspaces/plan-policy';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { isSubscribed } from './webhook-endpoint.dto';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

@Injectable()
export class EndpointSubscription {
  constructor(private readonly workspaces: WorkspacesRepository) {}

  /** The event types of an endpoint's subscription that its workspace's plan allows, without tests. */
  async typesOf(
    reader: Reader,
    { tenantId, events }: Pick<WebhookEndpointEntity, 'tenantId' | 'events'>,
  ): Promise<string[]> {
    const [workspace] = await this.workspaces.findMany(reader, [tenantId]);
    const isAudited = workspace !== undefined && isEntitled(workspace, 'auditWebhookExport');
    return Object.keys(eventCatalog)
      .filter((type) => type !== 'webhook.test' && (type !== 'audit.event' || isAudited))
      .filter((type) => isSubscribed(events, type));
  }
}
