import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { ReceiptStatus, statusesBefore } from '../../common/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Connection } from '../adapters/channel-adapter';
import { InboundReceipt, InboundWatermark } from '../adapters/hook-events';
import { AppliedReceipt } from '../provider-ids/provider-ids.repository';

/** Maximum age, in milliseconds, of a message that an echo (a report of it) can match by its text. */
const ECHO_WITHIN_MS = 60 * 60 * 1000;

/** Message that is being sent or whose outcome is unknown. */
export interface UnsettledMessage extends MessageKey {
  createdAt: Date;
  body: string;
}

const UNSETTLED = `
  SELECT m.tenant_id AS "tenantId", m.conversation_id AS "conversationId", m.id AS "messageId",
         m.created_at AS "createdAt", m.body
  FROM messages m JOIN conversations c ON c.tenant_id = $1 AND c.id = m.conversation_id
  WHERE m.tenant_id = $1 AND m.delivery_status IN ('SENDING', 'UNKNOWN') AND c.source_channel = $2
    AND m.attachment_count = 0`;

const STATUSES_IN_ORDER: ReceiptStatus[] = ['SENT', 'FAILED', 'DELIVERED', 'READ'];

/** SQL condition: conversation `c` of workspace $1 is with the customer whose id is $3. */
const WITH_CUSTOMER = `
  EXISTS (
    SELECT FROM contact_identities i
    WHERE i.tenant_id = $1 AND i.channel = c.source_channel AND i.external_id = $3
      AND i.contact_id = c.contact_id)
  AND coalesce(c.identity_external_id, $3) = $3`;

/** SQL condition: message `m` of workspace $1 is being sent. */
const IS_LEASED = `
  EXISTS (
    SELECT FROM outbound_messages d
    WHERE d.tenant_id = $1 AND d.conversation_id = m.conversation_id AND d.message_id = m.id
      AND d.lease_id IS NOT NULL)`;

/**
 * Selects the messages of workspace $1 with the provider ids $4 on connection $3, if their status is one of
 * $6. Each is selected with the error of its id in $5.
 */
const WITH_PROVIDER_IDS = `
  SELECT m.conversation_id, m.id, m.delivery_status, r.error
  FROM unnest($4::text[], $5::jsonb[]) r (provider_id, error)
  JOIN provider_messages p ON p.tenant_id = $1 AND p.connection_id = $3 AND p.provider_id = r.provider_id
  JOIN messages m ON m.tenant_id = $1 AND m.conversation_id = p.conversation_id AND m.id = p.message_id
    AND m.delivery_status = ANY ($6)
  ORDER BY 1, 2 FOR NO KEY UPDATE OF m`;

/** Maximum number of a conversation's messages that one statement updates for a receipt up to a time. */
export const WATERMARK_STEP = 500;

/**
 * Selects the oldest messages that connection $5 of workspace $1 sent no later than $6 to customer $4 of
 * channel $3, if their status is one of $7. With a join instead of the sub-select, the planner would read all
 * provider ids of the conversation.
 */
const SENT_UNTIL = `
  SELECT s.conversation_id, s.id, s.delivery_status, NULL::jsonb AS error
  FROM (
    SELECT c.id FROM contact_identities i
    JOIN conversations c ON c.tenant_id = $1 AND c.contact_id = i.contact_id
      AND c.source_channel = i.channel AND coalesce(c.identity_external_id, $4) = $4
    WHERE i.tenant_id = $1 AND i.channel = $3 AND i.external_id = $4 ORDER BY c.id) AS c
  CROSS JOIN LATERAL (
    SELECT m.conversation_id, m.id, m.delivery_status FROM messages m
    WHERE m.tenant_id = $1 AND m.conversation_id = c.id
      AND m.delivery_status IN ('SENT', 'DELIVERED') AND m.delivery_status = ANY ($7)
      AND (SELECT CASE WHEN m.attachment_count = 0 THEN min(p.sent_at) ELSE max(p.sent_at) END FROM provider_messages p
           WHERE p.tenant_id = $1 AND p.conversation_id = m.conversation_id AND p.message_id = m.id
             AND p.connection_id = $5) <= $6
    ORDER BY m.id LIMIT ${WATERMARK_STEP} FOR NO KEY UPDATE OF m) AS s`;

@Injectable()
export class ReceiptsRepository {
  constructor(private readonly statuses: MessageStatusRepository) {}

  async findUnsettled(
    tx: Transaction,
    { tenantId, channel }: Connection,
    messageId: string,
  ): Promise<UnsettledMessage | null> {
    const [message] = await tx.query<UnsettledMessage>(`${UNSETTLED} AND m.id = $3`, [
      tenantId,
      channel,
      messageId,
    ]);
    return message ?? null;
  }

  /**
   * Finds a message by its text: the newest with an unknown outcome, else the newest that is being sent.
   * Skips messages that wait for a retry, because they were certainly not sent.
   */
  async findUnsettledByText(
    tx: Transaction,
    { tenantId, channel }: Connection,
    customerId: string,
    text: string,
  ): Promise<UnsettledMessage | null> {
    const since = idFloor(new Date(Date.now() - ECHO_WITHIN_MS));
    const candidates = await tx.query<UnsettledMessage>(
      `${UNSETTLED} AND ${WITH_CUSTOMER} AND m.id > $4
         AND (m.delivery_status = 'UNKNOWN' OR ${IS_LEASED})
       ORDER BY m.delivery_status = 'UNKNOWN' DESC, m.id DESC`,
      [tenantId, channel, customerId, since],
    );
    // Providers trim texts.
    return candidates.find(({ body }) => body.trim() === text.trim()) ?? null;
  }

  /**
   * Returns the provider ids of receipts that need more than an update of the status, because their message
   * is in the queue, because the response with the id was lost, or because they concern a part of a message.
   * @returns whether each id is one of a part
   */
  async findSpecial(
    tx: Transaction,
    { tenantId, channel, id }: Connection,
    receipts: InboundReceipt[],
  ): Promise<Map<string, boolean>> {
    const named = receipts.filter(({ messageId }) => messageId !== null);
    const rows = await tx.query<{ providerId: string; isPart: boolean }>(
      `SELECT p.provider_id AS "providerId", false AS "isPart"
       FROM provider_messages p
       JOIN outbound_messages d ON d.tenant_id = $1 AND d.conversation_id = p.conversation_id
         AND d.message_id = p.message_id
       WHERE p.tenant_id = $1 AND p.connection_id = $2 AND p.provider_id = ANY ($3)
       UNION
       SELECT p.provider_id, true FROM message_parts p
       WHERE p.tenant_id = $1 AND p.connection_id = $2 AND p.provider_id = ANY ($3)
       UNION
       SELECT r.provider_id, true
       FROM unnest($4::text[], $5::uuid[]) r (provider_id, message_id)
       JOIN message_parts p ON p.tenant_id = $1 AND p.id = r.message_id AND p.status IN ('SENDING', 'UNKNOWN')
       UNION
       SELECT r.provider_id, false
       FROM unnest($4::text[], $5::uuid[]) r (provider_id, message_id)
       JOIN messages m ON m.tenant_id = $1 AND m.id = r.message_id
         AND m.delivery_status IN ('SENDING', 'UNKNOWN')
       JOIN conversations c ON c.tenant_id = $1 AND c.id = m.conversation_id AND c.source_channel = $6
       ORDER BY "isPart"`,
      [
        tenantId,
        id,
        receipts.map(({ providerId }) => providerId),
        named.map(({ providerId }) => providerId),
        named.map(({ messageId }) => messageId),
        channel,
      ],
    );
    // Of two rows for an id, the last one counts.
    return new Map(rows.map(({ providerId, isPart }) => [providerId, isPart]));
  }

  /**
   * Sets the status of the messages with these provider ids. Among several receipts, the highest status wins.
   * @returns the number of messages that have become FAILED
   */
  async advanceAll(
    tx: Transaction,
    { tenantId, id }: Connection,
    receipts: AppliedReceipt[],
  ): Promise<number> {
    let failed = 0;
    for (const status of STATUSES_IN_ORDER) {
      const these = receipts.filter((receipt) => receipt.status === status);
      if (these.length === 0) continue;
      const advanced = await this.statuses.advanceSelected(tx, tenantId, status, WITH_PROVIDER_IDS, [
        id,
        these.map(({ providerId }) => providerId),
        these.map(({ error }) => error && JSON.stringify(error)),
        statusesBefore(status),
      ]);
      if (status === 'FAILED') failed = advanced;
    }
    return failed;
  }

  /**
   * Sets the status of up to WATERMARK_STEP messages of each conversation that were sent to a customer until
   * `until`. FAILED messages never arrived, so they stay FAILED.
   * @returns the number of messages whose status has changed
   */
  advanceUntil(
    tx: Transaction,
    { tenantId, channel, id }: Connection,
    { customerId, status, until }: InboundWatermark,
  ): Promise<number> {
    const before = status === 'READ' ? ['SENT', 'DELIVERED'] : ['SENT'];
    const parameters = [channel, customerId, id, until, before];
    return this.statuses.advanceSelected(tx, tenantId, status, SENT_UNTIL, parameters);
  }
}
