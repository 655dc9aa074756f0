import { randomBytes } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { AuditEntryEntity } from '../../src/audit/audit-entry.entity';
import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { MessageResponse } from '../../src/messages/message.dto';
import { DELIVERY_QUEUE } from '../../src/webhooks/deliveries/delivery';
import { WakeUps } from '../../src/queue/wake-ups';
import { MAX_DELIVERY_ATTEMPTS } from '../../src/webhooks/deliveries/delivery-attempter';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import {
  ListWebhookDeliveriesQuery,
  WebhookDeliverySummary,
} from '../../src/webhooks/browsing/webhook-delivery.dto';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import {
  CreateWebhookEndpoint,
  UpdateWebhookEndpoint,
} from '../../src/webhooks/endpoints/webhook-endpoint-input.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { EndpointStatisticsService } from '../../src/webhooks/rollups/endpoint-statistics.service';
import { SendExample } from '../../src/webhooks/testing/webhook-test.dto';
import { WebhookTestService } from '../../src/webhooks/testing/webhook-test.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { WebhookRecoverySummary } from '../../src/webhooks/recoveries/webhook-recovery.dto';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { Fixtures } from './fixtures';
import { Receiver } from './receiver';
import { letTimePass, waitFor } from './wait';

export type Identified = { id: string };

/** A process with the webhook services: a dashboard, or a service with the role `worker` or `all`. */
export interface WebhookHost {
  app: Pick<INestApplicationContext, 'get'>;
  make: Fixtures;
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/** A workspace with a conversation, and the acts of its dashboard that concern webhooks. */
export class WebhookWorkspace {
  readonly endpoints: WebhookEndpointsService;
  readonly deliveries: WebhookDeliveriesService;
  readonly statistics: EndpointStatisticsService;
  private readonly recoveries: WebhookRecoveriesService;
  private readonly tests: WebhookTestService;
  private readonly audit: AuditService;

  protected constructor(
    private readonly host: WebhookHost,
    readonly workspace: WorkspaceEntity,
    readonly conversation: ConversationDetail,
  ) {
    this.endpoints = host.app.get(WebhookEndpointsService, { strict: false });
    this.deliveries = host.app.get(WebhookDeliveriesService, { strict: false });
    this.statistics = host.app.get(EndpointStatisticsService, { strict: false });
    this.recoveries = host.app.get(WebhookRecoveriesService, { strict: false });
    this.tests = host.app.get(WebhookTestService, { strict: false });
    this.audit = host.app.get(AuditService, { strict: false });
  }

  static async create(host: WebhookHost, input: Partial<CreateWorkspace> = {}): Promise<WebhookWorkspace> {
    return WebhookWorkspace.wrap(host, await host.make.workspace(input));
  }

  /** Wraps an existing workspace. */
  static async wrap(host: WebhookHost, workspace: WorkspaceEntity): Promise<WebhookWorkspace> {
    return new WebhookWorkspace(host, workspace, await host.make.conversation(workspace));
  }

  get id(): string {
    return this.workspace.id;
  }

  /** Adds an endpoint, for messages by default. */
  addEndpoint(url: string, given: Partial<CreateWebhookEndpoint> = {}): Promise<CreatedWebhookEndpoint> {
    return this.endpoints.create(this.id, { url, events: ['message.created'], ...given }, SYSTEM);
  }

  activate({ id }: Identified) {
    return this.endpoints.activate(this.id, id, SYSTEM);
  }

  /** Edits an endpoint in the version that it has now. */
  async edit({ id }: Identified, changes: Omit<UpdateWebhookEndpoint, 'version'>) {
    const { version } = await this.endpoints.get(this.id, id, SYSTEM);
    return this.endpoints.update(this.id, id, { version, ...changes }, SYSTEM);
  }

  deactivate({ id }: Identified) {
    return this.endpoints.deactivate(this.id, id, SYSTEM);
  }

  /** Inserts events of messages that were relayed to no endpoint. */
  async miss(count: number): Promise<void> {
    const data = { conversationId: this.conversation.id, message: { id: '1', body: 'missed' } };
    await this.host.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, id, 'message.created', $2, now() FROM unnest($3::uuid[]) AS id`,
      [this.id, JSON.stringify(data), Array.from({ length: count }, newId)],
    );
    await letTimePass(2); // the last of them is before the moment of a recovery that starts now
  }

  /** Presses the Test button. */
  test({ id }: Identified) {
    return this.tests.test(this.id, id, SYSTEM);
  }

  /** Tests with the example of an event. */
  sendExample({ id }: Identified, input: SendExample) {
    return this.tests.sendExample(this.id, id, input, SYSTEM);
  }

  health({ id }: Identified) {
    return this.statistics.getHealth(this.id, id, SYSTEM);
  }

  redeliver({ id }: Identified) {
    return this.deliveries.redeliver(this.id, id, SYSTEM);
  }

  retryNow({ id }: Identified) {
    return this.deliveries.retryNow(this.id, id, SYSTEM);
  }

  recover({ id }: Identified, since: Date, dryRun = false): Promise<WebhookRecoverySummary> {
    return this.recoveries.recoverMissed(this.id, id, { since, dryRun }, SYSTEM);
  }

  recovery({ id }: Pick<WebhookRecoverySummary, 'id'>): Promise<WebhookRecoverySummary> {
    return this.recoveries.get(this.id, id!, SYSTEM);
  }

  /** Waits until a recovery has made all of its deliveries, which may not be finished. */
  waitUntilMade(recovery: Pick<WebhookRecoverySummary, 'id'>): Promise<WebhookRecoverySummary> {
    return waitFor('all deliveries of a recovery', async () => {
      const seen = await this.recovery(recovery);
      return seen.isAllMade && seen;
    });
  }

  /**
   * Waits until a recovery has ended. While it goes on, it takes a step, or delivers the events of a step.
   */
  async waitForRecovery(recovery: Pick<WebhookRecoverySummary, 'id'>): Promise<WebhookRecoverySummary> {
    let { seen, mark } = await this.progressOf(recovery);
    // Thousands of deliveries take as long as the machine needs, and a step waits for the deliveries of the
    // last one.
    while (seen.status === 'running')
      ({ seen, mark } = await waitFor('a recovery to go on', async () => {
        const now = await this.progressOf(recovery);
        return now.mark !== mark && now;
      }));
    return seen;
  }

  /** Reads a recovery, with a mark that changes when it takes a step, ends, or a delivery is finished. */
  private async progressOf(recovery: Pick<WebhookRecoverySummary, 'id'>) {
    const seen = await this.recovery(recovery);
    const [pending] = await this.host.query<{ count: string }>(
      'SELECT count(*) AS count FROM pending_deliveries WHERE tenant_id = $1',
      [this.id],
    );
    return { seen, mark: [seen.status, seen.recovered, pending!.count].join(' ') };
  }

  /** Stores a customer's message. */
  message(body?: string): Promise<MessageResponse> {
    return this.host.make.received(this.workspace, this.conversation, body);
  }

  /** Settles when the relay has claimed every event of the workspace so far. */
  async waitForRelay(): Promise<void> {
    await waitFor('the relay', async () => {
      const waiting = await this.host.query(
        'SELECT FROM event_queue WHERE tenant_id = $1 AND lease_id IS NULL LIMIT 1',
        [this.id],
      );
      return waiting.length === 0;
    });
  }

  async list(query: Partial<ListWebhookDeliveriesQuery> = {}): Promise<WebhookDeliverySummary[]> {
    return (await this.deliveries.list(this.id, { limit: 200, ...query }, SYSTEM)).data;
  }

  /** Waits until an endpoint's latest delivery fits. */
  waitForDelivery(
    { id: endpointId }: Identified,
    what: string,
    fits: (delivery: WebhookDeliverySummary) => boolean,
  ): Promise<WebhookDeliverySummary> {
    return waitFor(`a delivery that ${what}`, async () => {
      const [delivery] = await this.list({ endpointId });
      return delivery && fits(delivery) && delivery;
    });
  }

  /** Waits until exactly `count` of an endpoint's deliveries have this status. */
  waitForStatus(
    { id: endpointId }: Identified,
    status: WebhookDeliverySummary['status'],
    count = 1,
  ): Promise<WebhookDeliverySummary[]> {
    return waitFor(`${count} deliveries that are ${status}`, async () => {
      const deliveries = await this.list({ endpointId, status });
      return deliveries.length === count && deliveries;
    });
  }

  /**
   * Makes the next attempt of each pending delivery its last one, and due now. Attempts in progress end
   * first.
   */
  async makeLastAttemptDue({ id }: Identified): Promise<void> {
    await waitFor('a delivery that waits for its next attempt', async () => {
      const changed = await this.host.query(
        `WITH changed AS (
           UPDATE pending_deliveries SET attempt_count = $3, next_attempt_at = now()
           WHERE tenant_id = $1 AND endpoint_id = $2 AND NOT EXISTS (
             SELECT FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 AND lease_id IS NOT NULL)
           RETURNING id
         ) SELECT id FROM changed`,
        [this.id, id, MAX_DELIVERY_ATTEMPTS - 1],
      );
      return changed.length > 0;
    });
    this.host.app.get(WakeUps, { strict: false }).wake(DELIVERY_QUEUE, [{ tenantId: this.id, id }]);
  }

  /** Lets one message fail for good at a receiver that answers with a failure. */
  async exhaust(endpoint: Identified): Promise<WebhookDeliverySummary> {
    const before = (await this.list({ endpointId: endpoint.id, status: 'exhausted' })).length;
    await this.message();
    await this.waitForDelivery(
      endpoint,
      'has failed once',
      ({ status, attempts }) => status === 'pending' && attempts.length > 0,
    );
    await this.makeLastAttemptDue(endpoint);
    const [latest] = await this.waitForStatus(endpoint, 'exhausted', before + 1);
    return latest!;
  }

  /** Returns the audit log's entries about one thing, newest first. */
  async auditOf({ id }: Identified): Promise<AuditEntryEntity[]> {
    return (await this.audit.list(this.id, { entityId: id, limit: 200 }, SYSTEM)).data;
  }
}

/** Event types of the contract. Most tests count these alone. */
const CONTRACT_EVENTS = ['message.created', 'conversation.updated', 'audit.event'];

interface SubscriptionOptions {
  /** Event types, or `*`; the contract's types by default. */
  events?: string[];
  workspace?: Partial<CreateWorkspace>;
}

/** A workspace with an agent, and an endpoint at a path of its own. */
export class Subscription extends WebhookWorkspace {
  private constructor(
    host: WebhookHost,
    workspace: WorkspaceEntity,
    conversation: ConversationDetail,
    readonly agent: AgentEntity,
    readonly path: string,
    readonly endpoint: CreatedWebhookEndpoint,
  ) {
    super(host, workspace, conversation);
  }

  /** Registers an endpoint at a receiver, or at any other address. */
  static async start(
    host: WebhookHost,
    to: Receiver | string,
    { events = CONTRACT_EVENTS, workspace: input }: SubscriptionOptions = {},
  ): Promise<Subscription> {
    const workspace = await host.make.workspace(input);
    const agent = await host.make.agent(workspace);
    const conversation = await host.make.conversation(workspace);
    const path = `/hook-${randomBytes(4).toString('hex')}`;
    const url = typeof to === 'string' ? to : to.url(path);
    const endpoints = host.app.get(WebhookEndpointsService, { strict: false });
    const endpoint = await endpoints.create(workspace.id, { url, events }, SYSTEM);
    return new Subscription(host, workspace, conversation, agent, path, endpoint);
  }
}

export const subscribe = (...given: Parameters<typeof Subscription.start>) => Subscription.start(...given);
