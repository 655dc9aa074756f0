import { AuditEntryEntity } from '../../src/audit/audit-entry.entity';
import { AuditService } from '../../src/audit/audit.service';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { Channel } from '../../src/common/channel';
import { DeliveryStatus } from '../../src/messages/message-status';
import { connect, ConnectedWorkspace } from './connected-workspace';
import { createTenant, Tenant } from './routes';
import { TestService } from './service';
import { waitFor } from './wait';

/** A message of an agent, and where it stands. */
export interface Reply {
  id: string;
  conversationId: string;
}

/** A workspace with a channel connected, and what its agents see and do over the API. */
export class ChannelWorkspace extends ConnectedWorkspace {
  private constructor(
    service: TestService,
    readonly tenant: Tenant,
    connection: ConnectedChannel,
  ) {
    super(service, tenant.workspace, connection);
  }

  static async connect(service: TestService, channel: Channel, credentials: object) {
    // Waiting for a status asks often.
    const tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
    const connection = await connect(service, tenant.workspace, channel, credentials);
    return new ChannelWorkspace(service, tenant, connection);
  }

  /** What the audit log has of the connection, newest first. */
  async audit(): Promise<AuditEntryEntity[]> {
    const entries = await this.service.app.get(AuditService).list(this.workspace.id, 200);
    return entries.filter(({ entityId }) => entityId === this.connection.id);
  }

  /** The conversations with a customer, newest first, whole. */
  async conversationsWith(customerId: string): Promise<any[]> {
    const { client } = this.tenant;
    const listed = await client.all(`/conversations?channel=${this.connection.channel}`, 200);
    const whole = await Promise.all(listed.map(({ id }) => client.get(`/conversations/${id}`)));
    return whole
      .map(({ body }) => body)
      .filter(({ contact }) =>
        contact.identities.some(({ externalId }: { externalId: string }) => externalId === customerId),
      );
  }

  /** The only conversation with a customer. */
  async conversationWith(customerId: string): Promise<any> {
    const conversations = await this.conversationsWith(customerId);
    if (conversations.length !== 1) throw new Error(`${conversations.length} conversations`);
    return conversations[0];
  }

  /** What was said in a conversation, oldest first. */
  async bodiesOf({ id }: { id: string }): Promise<string[]> {
    const messages = await this.tenant.client.all(`/conversations/${id}/messages`, 200);
    return messages.map(({ body }) => body).reverse();
  }

  /** Sends a reply over the API. */
  async reply({ id: conversationId }: { id: string }, body = 'On its way.'): Promise<Reply> {
    const answer = await this.tenant.client.post(`/conversations/${conversationId}/messages`, { body });
    if (answer.status !== 201) throw new Error(`A reply was answered with ${answer.status}`);
    return { id: answer.body.message.id, conversationId };
  }

  /** What the API says of a reply's way. */
  async delivery({ id, conversationId }: Reply): Promise<{ status: DeliveryStatus; error: any }> {
    const messages = await this.tenant.client.all(`/conversations/${conversationId}/messages`, 200);
    return messages.find((message) => message.id === id).delivery;
  }

  /** The same, as soon as the reply has this status. */
  delivered(reply: Reply, status: DeliveryStatus, withinMs?: number) {
    const isThere = async () => {
      const delivery = await this.delivery(reply);
      return delivery.status === status && delivery;
    };
    return waitFor(`a reply that is ${status}`, isThere, withinMs);
  }

  /** How many seconds the next attempt is away, as soon as an attempt has failed; and the connection's pause. */
  async waitForRetry({ id }: Reply): Promise<{ retryIn: number; pausedFor: number | null }> {
    return waitFor('a retry', async () => {
      const [row] = await this.service.query<{ retryIn: number; pausedFor: number | null }>(
        `SELECT extract(epoch FROM d.next_attempt_at - now())::float AS "retryIn",
                extract(epoch FROM w.paused_until - now())::float AS "pausedFor"
         FROM message_dispatches d JOIN channel_connections w ON w.id = d.connection_id
         WHERE d.message_id = $1 AND d.attempt_count > 0 AND d.lease_id IS NULL`,
        [id],
      );
      return row;
    });
  }
}
