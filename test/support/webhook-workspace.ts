import { randomBytes } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { AuditEntryEntity } from '../../src/audit/audit-entry.entity';
import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { MessageResponse } from '../../src/messages/message.dto';
import { DELIVERY_QUEUE, deliveryIdOf } from '../../src/webhooks/deliveries/delivery';
import {
  BEFORE_ALL_ENDPOINTS,
  DueDeliveriesRepository,
} from '../../src/webhooks/deliveries/due-deliveries.repository';
import { WakeUpQueue, wakeUpsOf } from '../../src/queue/wake-up-queue';
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
import { IS_OWED } from '../../src/webhooks/endpoints/subscription';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { EndpointStatisticsService } from '../../src/webhooks/rollups/endpoint-statistics.service';
import { SendExample } from '../../src/webhooks/testing/webhook-test.dto';
import { WebhookTestService } from '../../src/webhooks/testing/webhook-test.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { WebhookRecoverySummary } from '../../src/webhooks/recoveries/webhook-recovery.dto';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { MessagingHost } from './messaging-host';
import { Fixtures } from './fixtures';
import { Receiver } from './receiver';
import { letTimePass, waitFor } from './wait';

type Identified = { id: string };

/** A process with the webhook services: a dashboard, or a service with the role `worker` or `all`. */
export interface WebhookHost {
  app: Pick<INestApplicationContext, 'get'>;
  make: Fixtures;
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/** A stored delivery: a pending one, or the latest finished round. */
export interface StoredDelivery {
  id: string;
  event_type: string;
  /** Status of the delivery. A pending one that its endpoint is not owed is CANCELLED, as lists show it. */
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
  round: number;
  attempt_count: number;
  /** Time of the next attempt, or the end of a lease; null once the delivery is finished. */
  next_attempt_at: Date | null;
  lease_id: string | null;
  finished_at: Date | null;
}

/** A stored attempt. */
export interface StoredAttempt {
  delivery_id: string;
  round: number;
  attempt: number;
  attempted_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  error_message: string | null;
  response: Buffer | null;
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

  /** Settles when every event of the workspace so far has been relayed. */
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
    const wakeUps = this.host.app.get<WakeUpQueue>(wakeUpsOf(DELIVERY_QUEUE), { strict: false });
    wakeUps.wakeIn({ tenantId: this.id, id }, 0);
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

/** Returns an endpoint's stored deliveries, oldest first. A delivery in its first attempt is not stored. */
export async function deliveriesOf(host: WebhookHost, endpoint: Identified): Promise<StoredDelivery[]> {
  const workspaceId = await workspaceOf(host, endpoint);
  return host.query<StoredDelivery>(
    `SELECT p.id, p.event_type, p.round, p.attempt_count, p.next_attempt_at, p.lease_id, NULL::timestamptz AS finished_at,
            CASE WHEN ${IS_OWED} THEN 'PENDING' ELSE 'CANCELLED' END AS status
     FROM pending_deliveries p JOIN webhook_endpoints w ON w.tenant_id = $2 AND w.id = p.endpoint_id
     WHERE p.tenant_id = $2 AND w.id = $1
     UNION ALL
     SELECT * FROM (
       SELECT DISTINCT ON (d.id) d.id, d.event_type, d.round, d.attempt_count, NULL::timestamptz, NULL::uuid, d.finished_at,
              d.status
       FROM webhook_deliveries d
       WHERE d.tenant_id = $2 AND d.endpoint_id = $1
         AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $2 AND p.id = d.id)
       ORDER BY d.id, d.round DESC) AS finished
     ORDER BY id`,
    [endpoint.id, workspaceId],
  );
}

/** Returns every stored attempt for an endpoint, oldest first. */
export async function attemptsOf(host: WebhookHost, endpoint: Identified): Promise<StoredAttempt[]> {
  const workspaceId = await workspaceOf(host, endpoint);
  const columns = 'attempted_at, duration_ms, status_code, error, error_message, response';
  return host.query<StoredAttempt>(
    `SELECT delivery_id, round, attempt, ${columns} FROM webhook_attempts WHERE tenant_id = $2 AND delivery_id IN (
       SELECT id FROM pending_deliveries WHERE tenant_id = $2 AND endpoint_id = $1
       UNION SELECT id FROM webhook_deliveries WHERE tenant_id = $2 AND endpoint_id = $1)
     UNION ALL
     SELECT id, round, attempt_count, ${columns} FROM webhook_deliveries
     WHERE tenant_id = $2 AND endpoint_id = $1 AND attempted_at IS NOT NULL
     ORDER BY attempted_at`,
    [endpoint.id, workspaceId],
  );
}

/** Returns the id of an endpoint's workspace; null for an endpoint that is not stored. */
async function workspaceOf(host: WebhookHost, { id }: Identified): Promise<string | null> {
  const [row] = await host.query<{ workspaceId: string }>(
    'SELECT tenant_id AS "workspaceId" FROM webhook_endpoints WHERE id = $1',
    [id],
  );
  return row?.workspaceId ?? null;
}

/** Waits until an endpoint has so many attempts. */
export function waitForAttempts(
  host: WebhookHost,
  endpoint: Identified,
  count: number,
  timeoutMs?: number,
): Promise<StoredAttempt[]> {
  return waitFor(
    `${count} attempts`,
    async () => {
      const attempts = await attemptsOf(host, endpoint);
      return attempts.length >= count && attempts;
    },
    timeoutMs,
  ).catch((error: Error) => throwWithState(host, endpoint, error));
}

/** Waits until an endpoint has so many deliveries and all of them have this status. */
export function waitForDeliveries(
  host: WebhookHost,
  endpoint: Identified,
  status: StoredDelivery['status'],
  count = 1,
  timeoutMs?: number,
): Promise<StoredDelivery[]> {
  return waitFor(
    `${count} deliveries that are all ${status}`,
    async () => {
      const rows = await deliveriesOf(host, endpoint);
      return rows.length >= count && rows.every((row) => row.status === status) && rows;
    },
    timeoutMs,
  ).catch((error: Error) => throwWithState(host, endpoint, error));
}

/** Throws an error with the places of the endpoint's deliveries: among events, pending, or in the history. */
async function throwWithState(host: WebhookHost, endpoint: Identified, error: Error): Promise<never> {
  const events = await host.query(
    `SELECT q.* FROM event_queue q JOIN webhook_endpoints w ON w.tenant_id = q.tenant_id WHERE w.id = $1 LIMIT 5`,
    [endpoint.id],
  );
  const deliveries = (await deliveriesOf(host, endpoint)).slice(0, 5);
  throw new Error(`${error.message}: ${JSON.stringify({ now: new Date(), events, deliveries })}`);
}

/**
 * Inserts events and their pending deliveries to an endpoint, as the relay does for events that find no slot.
 */
export async function insertPendingDeliveries(
  host: WebhookHost,
  { workspace, endpoint }: Pick<Subscription, 'workspace' | 'endpoint'>,
  count = 1,
): Promise<void> {
  const eventIds = Array.from({ length: count }, newId);
  await host.query(
    `WITH event AS (
       INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, id, 'message.created', '{}', now() FROM unnest($2::uuid[]) AS id
     )
     INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
       recovered, next_attempt_at)
     SELECT $1, d.id, w.id, w.activation, d.event_id, 'message.created', 1, 0, false, now()
     FROM unnest($3::uuid[], $2::uuid[]) AS d (id, event_id), webhook_endpoints w
     WHERE w.tenant_id = $1 AND w.id = $4`,
    [workspace.id, eventIds, eventIds.map((eventId) => deliveryIdOf(eventId, endpoint.id)), endpoint.id],
  );
}

/** Makes the endpoint's deliveries that wait for a retry due now, and wakes the endpoint. */
export async function makeRetriesDue(host: MessagingHost, endpoint: Identified): Promise<void> {
  await host.query(
    'UPDATE pending_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND lease_id IS NULL',
    [endpoint.id],
  );
  await host.wake(endpoint);
}

/** Ends the leases of an endpoint's pending deliveries, as if their worker had been killed. */
export async function endLeases(host: WebhookHost, endpoint: Identified): Promise<void> {
  await host.query(
    `UPDATE pending_deliveries SET next_attempt_at = now() - interval '1 second'
     WHERE endpoint_id = $1 AND lease_id IS NOT NULL`,
    [endpoint.id],
  );
}

/**
 * Ends the leases of a workspace's events whose first attempts are in flight, as if their worker had been
 * killed.
 */
export async function endEventLeases(host: WebhookHost, { id }: Identified): Promise<void> {
  await host.query(
    `UPDATE event_queue SET lease_until = now() - interval '1 second' WHERE tenant_id = $1 AND lease_id IS NOT NULL`,
    [id],
  );
}

/** Returns the ids of the endpoints that a worker's search for due deliveries finds, on all servers. */
export async function findDue({ app }: WebhookHost): Promise<string[]> {
  const found: string[] = [];
  for (const server of await app.get(Database).placement.listServers())
    for (let position: typeof BEFORE_ALL_ENDPOINTS | null = BEFORE_ALL_ENDPOINTS; position !== null;) {
      const repository = app.get(DueDeliveriesRepository);
      const step: Awaited<ReturnType<typeof repository.findDue>> = await repository.findDue(position, server);
      found.push(...step.targets.map(({ id }) => id));
      position = step.next;
    }
  return found;
}

/** Returns the ids of the endpoints with retries and leases whose time came after `since`, on all servers. */
export async function findScheduled({ app }: WebhookHost, since: Date): Promise<string[]> {
  const servers = await app.get(Database).placement.listServers();
  const steps = await Promise.all(
    servers.map((server) => app.get(DueDeliveriesRepository).findScheduled(since, server)),
  );
  return steps.flatMap(({ targets }) => targets.map(({ id }) => id));
}
