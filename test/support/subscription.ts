import { randomBytes } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/common/principal';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { Dashboard } from './dashboard';
import { Receiver } from './receiver';
import { Fixtures } from './fixtures';
import { waitFor } from './wait';

/** A workspace with an agent, a conversation, and an endpoint at a path of its own. */
export interface Subscription {
  workspace: WorkspaceEntity;
  agent: AgentEntity;
  conversation: ConversationDetail;
  endpoint: CreatedWebhookEndpoint;
  path: string;
}

interface SubscriptionOptions {
  events?: string[];
  workspace?: Partial<CreateWorkspace>;
}

/** Whoever has the webhooks: a dashboard, or a service with the role `worker` or `all`. */
export interface Host {
  app: Pick<INestApplicationContext, 'get'>;
  make: Fixtures;
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/** A stored delivery. */
export interface DeliveryRow {
  id: string;
  event_type: string;
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
  attempt_count: number;
  next_attempt_at: Date;
  lease_id: string | null;
  lease_until: Date | null;
  finished_at: Date | null;
}

/** A stored attempt. */
export interface AttemptRow {
  delivery_id: string;
  attempted_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  error_message: string | null;
  response: Buffer | null;
}

/** Registers an endpoint at a receiver, or at any other address. */
export async function subscribe(
  service: Host,
  to: Receiver | string,
  { events = ['*'], workspace: input }: SubscriptionOptions = {},
): Promise<Subscription> {
  const fixtures = service.make;
  const workspace = await fixtures.workspace(input);
  const agent = await fixtures.agent(workspace);
  const conversation = await fixtures.conversation(workspace);
  const path = `/hook-${randomBytes(4).toString('hex')}`;
  const endpoint = await addEndpoint(service, workspace, typeof to === 'string' ? to : to.url(path), events);
  return { workspace, agent, conversation, endpoint, path };
}

export function addEndpoint(
  service: Host,
  { id }: { id: string },
  url: string,
  events: string[] = ['*'],
): Promise<CreatedWebhookEndpoint> {
  return service.app.get(WebhookEndpointsService).create(id, { url, events }, SYSTEM);
}

/** What an endpoint is or was owed, oldest first. */
export function deliveriesOf(service: Host, endpoint: { id: string }): Promise<DeliveryRow[]> {
  return service.query<DeliveryRow>('SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id', [
    endpoint.id,
  ]);
}

/** Every attempt that was made for an endpoint, oldest first. */
export function attemptsOf(service: Host, endpoint: { id: string }): Promise<AttemptRow[]> {
  return service.query<AttemptRow>(
    `SELECT a.* FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
     WHERE d.endpoint_id = $1 ORDER BY a.id`,
    [endpoint.id],
  );
}

/** An endpoint's attempts, once there are so many. */
export function waitForAttempts(
  service: Host,
  endpoint: { id: string },
  count: number,
  timeoutMs?: number,
): Promise<AttemptRow[]> {
  return waitFor(
    `${count} attempts`,
    async () => {
      const attempts = await attemptsOf(service, endpoint);
      return attempts.length >= count && attempts;
    },
    timeoutMs,
  );
}

/** An endpoint's deliveries, once there are some and all of them are as wanted. */
export function waitForDeliveries(
  service: Host,
  endpoint: { id: string },
  status: DeliveryRow['status'],
  count = 1,
  timeoutMs?: number,
): Promise<DeliveryRow[]> {
  return waitFor(
    `${count} deliveries that are ${status}`,
    async () => {
      const rows = await deliveriesOf(service, endpoint);
      return rows.length >= count && rows.every((row) => row.status === status) && rows;
    },
    timeoutMs,
  );
}

/** Owes events to an endpoint from now on, as the relay does. */
export async function oweEvents(
  service: Host,
  { workspace, endpoint }: Pick<Subscription, 'workspace' | 'endpoint'>,
  count = 1,
): Promise<void> {
  await service.query(
    `WITH event AS (
       INSERT INTO events SELECT $1, id, 'message.created', '{}', now(), now() FROM unnest($2::uuid[]) AS id
       RETURNING id
     )
     INSERT INTO webhook_deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, max_attempts,
       next_attempt_at, created_at)
     SELECT $1, event.id, $3, event.id, 'message.created', 'PENDING', 6, now(), now() FROM event`,
    [workspace.id, Array.from({ length: count }, newId), endpoint.id],
  );
}

/** Lets pending retries be due now instead of later: the schedule is the database's. */
export async function bringForward(service: Dashboard, endpoint: { id: string }): Promise<void> {
  await service.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND status = 'PENDING'`,
    [endpoint.id],
  );
  await service.wake(endpoint.id);
}
