import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuditEntryEntity } from '../../src/audit/audit-entry.entity';
import { AuditService } from '../../src/audit/audit.service';
import { SYSTEM } from '../../src/common/principal';
import { Config } from '../../src/config/config';
import { ConfigModule } from '../../src/config/config.module';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { MessageResponse } from '../../src/messages/message.dto';
import { MessagingModule } from '../../src/messaging.module';
import { WebhookDeliveriesService } from '../../src/webhooks/deliveries/webhook-deliveries.service';
import {
  ListWebhookDeliveriesQuery,
  WebhookDeliverySummary,
} from '../../src/webhooks/deliveries/webhook-delivery.dto';
import {
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
} from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { WebhookRecoverySummary } from '../../src/webhooks/recoveries/webhook-recovery.dto';
import { WebhookTestService } from '../../src/webhooks/deliveries/webhook-test.service';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { TestService } from './service';
import { waitFor } from './wait';

type Identified = { id: string };

/** A workspace with a conversation, and what its dashboard does with webhooks. */
export class WebhookWorkspace {
  readonly endpoints: WebhookEndpointsService;
  readonly deliveries: WebhookDeliveriesService;
  readonly recoveries: WebhookRecoveriesService;
  private readonly tests: WebhookTestService;
  private readonly audit: AuditService;

  private constructor(
    readonly service: TestService,
    readonly workspace: WorkspaceEntity,
    readonly conversation: ConversationDetail,
    dashboard: INestApplicationContext,
  ) {
    this.endpoints = dashboard.get(WebhookEndpointsService, { strict: false });
    this.deliveries = dashboard.get(WebhookDeliveriesService, { strict: false });
    this.recoveries = dashboard.get(WebhookRecoveriesService, { strict: false });
    this.tests = dashboard.get(WebhookTestService, { strict: false });
    this.audit = dashboard.get(AuditService, { strict: false });
  }

  /** `dashboard` is what has the services, where the service's own process has no worker. */
  static async create(
    service: TestService,
    input: Partial<CreateWorkspace> = {},
    dashboard: INestApplicationContext = service.app,
  ): Promise<WebhookWorkspace> {
    const workspace = await service.make.workspace(input);
    const conversation = await service.make.conversation(workspace);
    return new WebhookWorkspace(service, workspace, conversation, dashboard);
  }

  get id(): string {
    return this.workspace.id;
  }

  /** For messages, unless something else is said. */
  endpoint(url: string, given: Partial<CreateWebhookEndpoint> = {}): Promise<CreatedWebhookEndpoint> {
    return this.endpoints.create(this.id, { url, events: ['message.created'], ...given }, SYSTEM);
  }

  activate({ id }: Identified) {
    return this.endpoints.activate(this.id, id, SYSTEM);
  }

  deactivate({ id }: Identified) {
    return this.endpoints.deactivate(this.id, id, SYSTEM);
  }

  test({ id }: Identified) {
    return this.tests.test(this.id, id, SYSTEM);
  }

  health({ id }: Identified) {
    return this.deliveries.health(this.id, id);
  }

  redeliver({ id }: Identified) {
    return this.deliveries.redeliver(this.id, id, SYSTEM);
  }

  recover({ id }: Identified, since: Date, dryRun = false): Promise<WebhookRecoverySummary> {
    return this.recoveries.start(this.id, id, { since, dryRun }, SYSTEM);
  }

  recovery({ id }: Pick<WebhookRecoverySummary, 'id'>): Promise<WebhookRecoverySummary> {
    return this.recoveries.get(this.id, id!);
  }

  /** A recovery as soon as it is over. */
  recovered(recovery: Pick<WebhookRecoverySummary, 'id'>): Promise<WebhookRecoverySummary> {
    return waitFor('the end of a recovery', async () => {
      const now = await this.recovery(recovery);
      return now.status !== 'running' && now;
    });
  }

  message(body?: string): Promise<MessageResponse> {
    return this.service.make.received(this.workspace, this.conversation, body);
  }

  async list(query: Partial<ListWebhookDeliveriesQuery> = {}): Promise<WebhookDeliverySummary[]> {
    return (await this.deliveries.list(this.id, { limit: 200, ...query })).data;
  }

  /** An endpoint's only delivery, as soon as it fits. */
  delivery(
    { id: endpointId }: Identified,
    what: string,
    fits: (delivery: WebhookDeliverySummary) => boolean,
  ): Promise<WebhookDeliverySummary> {
    return waitFor(`a delivery that ${what}`, async () => {
      const [delivery] = await this.list({ endpointId });
      return delivery && fits(delivery) && delivery;
    });
  }

  /** As soon as so many of an endpoint's deliveries have this status. */
  async waitForStatus(
    { id: endpointId }: Identified,
    status: WebhookDeliverySummary['status'],
    count = 1,
  ): Promise<WebhookDeliverySummary[]> {
    return waitFor(`${count} deliveries that are ${status}`, async () => {
      const deliveries = await this.list({ endpointId, status });
      return deliveries.length === count && deliveries;
    });
  }

  /** Makes the next attempt of what is pending its last one, and due: nobody wants to wait for a minute. */
  async hasten({ id }: Identified): Promise<void> {
    await this.service.query(
      `UPDATE webhook_deliveries
       SET attempt_count = max_attempts - 1, next_attempt_at = now() - interval '2 seconds'
       WHERE endpoint_id = $1 AND status = 'PENDING' AND lease_id IS NULL`,
      [id],
    );
  }

  /** Lets one message fail for good at a receiver that answers with a failure. */
  async exhaust(endpoint: Identified): Promise<WebhookDeliverySummary> {
    const before = (await this.list({ endpointId: endpoint.id, status: 'exhausted' })).length;
    await this.message();
    await waitFor('a first attempt', async () => {
      const [latest] = await this.list({ endpointId: endpoint.id });
      return latest?.status === 'pending' && latest.attempts.length > 0;
    });
    await this.hasten(endpoint);
    const [latest] = await this.waitForStatus(endpoint, 'exhausted', before + 1);
    return latest!;
  }

  /** What the audit log has of one thing, newest first. */
  async auditOf({ id }: Identified): Promise<AuditEntryEntity[]> {
    return (await this.audit.list(this.id, 200)).filter(({ entityId }) => entityId === id);
  }
}

/** A dashboard backend over a service's stores: it manages webhooks, and delivers nothing. */
export function startDashboard(service: TestService): Promise<INestApplicationContext> {
  const config = ConfigModule.forRoot(service.app.get(Config));
  return NestFactory.createApplicationContext(MessagingModule.over(config), {
    logger: false,
    abortOnError: false,
  });
}
