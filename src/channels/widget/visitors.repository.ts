import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Database } from '../../database/database';
import { Batch, workspaceOf } from '../../database/key-list';
import { isSuspended } from '../../workspaces/suspension';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { visitorMessage, VisitorMessageRow } from './visitor-messages.repository';

export interface VisitorKey {
  tenantId: string;
  connectionId: string;
  externalId: string;
}

export interface VisitorState extends VisitorKey {
  /** Version of the widget's connection. It changes with every rotation of the credentials. */
  version: string;
  conversationId: string | null;
  /** Number of the conversation's last event; 0 if it has no event. */
  sequence: number;
  isSuspended: boolean;
}

/**
 * SQL for a FROM clause: the visitors $1 to $3 (workspace, connection and external ids), each with the latest
 * conversation of the visitor's identity, to which their next message is added. Leaves out disconnected
 * widgets.
 */
const visitorsOf = (tenantId: string) => `
  unnest($1::uuid[], $2::uuid[], $3::text[]) AS visitor (tenant_id, connection_id, external_id)
  JOIN channel_connections connection
    ON connection.tenant_id = ${tenantId} AND connection.id = visitor.connection_id AND connection.status <> 'DISCONNECTED'
  LEFT JOIN contact_identities identity
    ON identity.tenant_id = ${tenantId} AND identity.channel = 'WIDGET'
    AND identity.external_id = visitor.external_id
  LEFT JOIN LATERAL (
    SELECT * FROM conversations
    WHERE tenant_id = ${tenantId} AND contact_id = identity.contact_id AND source_channel = 'WIDGET'
      AND (identity_external_id IS NULL OR identity_external_id = identity.external_id)
    ORDER BY id DESC LIMIT 1
  ) conversation ON true`;

const stateOf = (tenantId: string) => `
  visitor.tenant_id AS "tenantId", visitor.connection_id AS "connectionId", visitor.external_id AS "externalId",
  connection.updated_at::text AS version, conversation.id AS "conversationId",
  coalesce(conversation.event_sequence, 0)::float8 AS sequence, ${isSuspended(tenantId)} AS "isSuspended"`;

const listIn = (batch: Batch) => {
  const tenantId = workspaceOf('visitor', '$1', batch);
  return `SELECT ${stateOf(tenantId)} FROM ${visitorsOf(tenantId)}`;
};

const ONE_WORKSPACE = '($1::uuid[])[1]';

@Injectable()
export class VisitorsRepository {
  constructor(
    private readonly database: Database,
    private readonly outboundMessages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
  ) {}

  /**
   * Lists visitors' states, unordered. Leaves out disconnected widgets. On Citus, all given visitors must be
   * of one workspace.
   */
  listStates(visitors: VisitorKey[]): Promise<VisitorState[]> {
    return this.database.query(listIn(this.database), keyColumns(visitors));
  }

  async findState(visitor: VisitorKey): Promise<VisitorState | null> {
    return (await this.listStates([visitor]))[0] ?? null;
  }

  /** Returns a visitor's state and a message; null if the message is not in the visitor's conversation. */
  async findStateWithMessage(
    visitor: VisitorKey,
    messageId: string,
  ): Promise<{ state: VisitorState; message: VisitorMessageRow } | null> {
    const [row] = await this.database.query<VisitorState & VisitorMessageRow>(
      `SELECT ${stateOf(ONE_WORKSPACE)}, ${visitorMessage(ONE_WORKSPACE)} FROM ${visitorsOf(ONE_WORKSPACE)}
       JOIN messages message ON message.tenant_id = ${ONE_WORKSPACE}
         AND message.conversation_id = conversation.id AND message.id = $4`,
      [...keyColumns([visitor]), messageId],
    );
    return row ? { state: row, message: row } : null;
  }

  /**
   * Sets the status of outbound messages, up to and including `upTo`. QUEUED messages keep their status. A
   * message that waits for a retry has arrived after all, so its retry is cancelled.
   * @returns the number of messages whose status has changed
   */
  async advance(
    tenantId: string,
    conversationId: string,
    upTo: string,
    status: 'DELIVERED' | 'READ',
  ): Promise<number> {
    const key = { tenantId, conversationId, messageId: upTo };
    let count = 0;
    let after: string | null = LOWEST_ID;
    while (after !== null) {
      const { advanced, next } = await this.advanceStep(key, status, after);
      count += advanced;
      after = next;
    }
    return count;
  }

  private advanceStep(key: MessageKey, status: 'DELIVERED' | 'READ', after: string) {
    return this.database.transaction(async (tx) => {
      await this.outboundMessages.lockUpTo(tx, key);
      const step = await this.statuses.advanceUpTo(tx, key, status, after);
      await this.outboundMessages.deleteSettledUpTo(tx, key);
      return step;
    });
  }
}

function keyColumns(visitors: VisitorKey[]): [string[], string[], string[]] {
  return [
    visitors.map(({ tenantId }) => tenantId),
    visitors.map(({ connectionId }) => connectionId),
    visitors.map(({ externalId }) => externalId),
  ];
}
