import { randomBytes } from 'node:crypto';
import { SYSTEM } from '../../src/common/principal';
import { ConversationDetail } from '../../src/conversations/conversation.response';
import { DeliveryQueue } from '../../src/webhooks/delivery.queue';
import { CreatedWebhookEndpoint } from '../../src/webhooks/webhook-endpoint.dto';
import { WebhookEndpointsService } from '../../src/webhooks/webhook-endpoints.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { Receiver } from './receiver';
import { TestService } from './service';
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
  /** Instead of the receiver's own. */
  url?: string;
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

/** Registers an endpoint through a service whose role has the webhooks: `worker` or `all`. */
export async function subscribe(
  service: TestService,
  receiver: Receiver,
  { events = ['*'], workspace: input, url }: SubscriptionOptions = {},
): Promise<Subscription> {
  const fixtures = service.make;
  const workspace = await fixtures.workspace(input);
  const agent = await fixtures.agent(workspace);
  const conversation = await fixtures.conversation(workspace);
  const path = `/hook-${randomBytes(4).toString('hex')}`;
  const endpoint = await addEndpoint(service, workspace, url ?? receiver.url(path), events);
  return { workspace, agent, conversation, endpoint, path };
}

export function addEndpoint(
  service: TestService,
  { id }: { id: string },
  url: string,
  events: string[] = ['*'],
): Promise<CreatedWebhookEndpoint> {
  return service.app.get(WebhookEndpointsService).create(id, { url, events }, SYSTEM);
}

/** What an endpoint is or was owed, oldest first. */
export function deliveriesOf(service: TestService, endpoint: { id: string }): Promise<DeliveryRow[]> {
  return service.query<DeliveryRow>('SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id', [
    endpoint.id,
  ]);
}

/** Every attempt that was made for an endpoint, oldest first. */
export function attemptsOf(service: TestService, endpoint: { id: string }): Promise<AttemptRow[]> {
  return service.query<AttemptRow>(
    `SELECT a.* FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
     WHERE d.endpoint_id = $1 ORDER BY a.id`,
    [endpoint.id],
  );
}

/** An endpoint's attempts, once there are so many. */
export function waitForAttempts(
  service: TestService,
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
  service: TestService,
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

/** Lets pending retries be due now instead of later: the schedule is the database's. */
export async function bringForward(service: TestService, endpoint: { id: string }): Promise<void> {
  await service.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND status = 'PENDING'`,
    [endpoint.id],
  );
  service.app.get(DeliveryQueue).wake([endpoint.id]);
}
