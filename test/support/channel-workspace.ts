import { AuditEntryEntity } from '../../src/audit/audit-entry.entity';
import { AuditService } from '../../src/audit/audit.service';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { Channel } from '../../src/common/channel-descriptors';
import { SYSTEM } from '../../src/access/principal';
import { DeliveryStatus } from '../../src/common/message-status';
import { connect, ConnectedWorkspace } from './connected-workspace';
import { createTenant, Tenant } from './routes';
import { TestService } from './service';
import { waitFor } from './wait';

export interface SentMessage {
  id: string;
  conversationId: string;
}

/** A workspace with one connected channel, as its agents use it over the API. */
export class ChannelWorkspace extends ConnectedWorkspace {
  private constructor(
    service: TestService,
    readonly tenant: Tenant,
    connection: ConnectedChannel,
  ) {
    super(service, tenant.workspace, connection);
  }

  static async connect(service: TestService, channel: Channel, credentials: object) {
    // Waiting for a status sends many requests.
    const tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
    const connection = await connect(service, tenant.workspace, channel, credentials);
    return new ChannelWorkspace(service, tenant, connection);
  }

  /** Returns the connection's audit entries, newest first. */
  async audit(): Promise<AuditEntryEntity[]> {
    const audit = this.service.app.get(AuditService);
    const { data: entries } = await audit.list(this.workspace.id, { limit: 200 }, SYSTEM);
    return entries.filter(({ entityId }) => entityId === this.connection.id);
  }

  /** Returns the conversations with a customer, newest first. */
  async conversationsWith(customerId: string): Promise<any[]> {
    const { client } = this.tenant;
    const listed = await client.all(`/conversations?channel=${this.connection.channel}`, 200);
    const conversations = await Promise.all(listed.map(({ id }) => client.get(`/conversations/${id}`)));
    return conversations
      .map(({ body }) => body)
      .filter(({ contact }) =>
        contact.identities.some(({ externalId }: { externalId: string }) => externalId === customerId),
      );
  }

  /**
   * Returns the one conversation with a customer.
   * @throws Error unless there is exactly one
   */
  async conversationWith(customerId: string): Promise<any> {
    const conversations = await this.conversationsWith(customerId);
    if (conversations.length !== 1) throw new Error(`${conversations.length} conversations`);
    return conversations[0];
  }

  /** Returns the texts of a conversation, oldest first. */
  async bodiesOf({ id }: { id: string }): Promise<string[]> {
    const messages = await this.tenant.client.all(`/conversations/${id}/messages`, 200);
    return messages.map(({ body }) => body).reverse();
  }

  async send({ id: conversationId }: { id: string }, body = 'On its way.'): Promise<SentMessage> {
    const answer = await this.tenant.client.post(`/conversations/${conversationId}/messages`, { body });
    if (answer.status !== 201) throw new Error(`The message was answered with ${answer.status}`);
    return { id: answer.body.message.id, conversationId };
  }

  /** Reads the delivery of a message from the API. */
  async delivery({ id, conversationId }: SentMessage): Promise<{ status: DeliveryStatus; error: any }> {
    const messages = await this.tenant.client.all(`/conversations/${conversationId}/messages`, 200);
    return messages.find((message) => message.id === id).delivery;
  }

  /** Waits until a message has this status. */
  delivered(message: SentMessage, status: DeliveryStatus, withinMs?: number) {
    const deliveryIfReached = async () => {
      const delivery = await this.delivery(message);
      return delivery.status === status && delivery;
    };
    return waitFor(`a message to be ${status}`, deliveryIfReached, withinMs);
  }

  /**
   * Waits for a failed attempt. Returns the seconds until the retry, and until the end of the connection's
   * pause.
   */
  async waitForRetry({ id }: SentMessage): Promise<{ retryIn: number; pausedFor: number | null }> {
    return waitFor('a retry', async () => {
      const [row] = await this.service.query<{ retryIn: number; pausedFor: number | null }>(
        `SELECT extract(epoch FROM d.next_attempt_at - now())::float AS "retryIn",
                extract(epoch FROM w.paused_until - now())::float AS "pausedFor"
         FROM outbound_messages d
         JOIN channel_connections w ON w.tenant_id = d.tenant_id AND w.id = d.connection_id
         WHERE d.message_id = $1 AND d.attempt_count > 0 AND d.lease_id IS NULL`,
        [id],
      );
      return row;
    });
  }
}
