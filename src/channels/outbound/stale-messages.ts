import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DELIVERY_ERROR_CODES, statusesBefore } from '../../messages/message-status';
import { Target } from '../../queue/target';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { deliveryError } from './delivery-error';
import { IS_READY, MAY_SEND, STATUS_BY_KEY } from './outbound-messages.repository';

/** A message that is due for longer has lost its wake-up. */
const OVERDUE = `interval '1 second'`;
const SWEEP_LOCK = 7_254_141;
/** So few that PostgreSQL looks up each by its key, however large the tables are. */
const BATCH = 200;
const HOLDS_BATCH = 1_000;
const MAX_WOKEN = 1_000;

/** A skip scan of the index, one row for each connection. */
const CONNECTIONS_WITH_MESSAGES = `
  WITH RECURSIVE with_messages AS (
    (SELECT connection_id FROM message_dispatches ORDER BY connection_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.connection_id FROM message_dispatches d
            WHERE d.connection_id > p.connection_id ORDER BY d.connection_id LIMIT 1)
    FROM with_messages p WHERE p.connection_id IS NOT NULL
  )`;

/** Messages with the same outcome. */
export interface OutcomeCount {
  channel: Channel;
  /** `unknown`, or an error code in lower case. */
  outcome: string;
  count: number;
}

/** Reconciles messages whose lease, hold or connection has ended. Runs in one process at a time. */
@Injectable()
export class StaleMessages {
  constructor(
    private readonly database: Database,
    private readonly adapters: ChannelAdapters,
  ) {}

  reconcile(): Promise<{ connectionsToWake: Map<string, Target>; outcomes: OutcomeCount[] }> {
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock($1) AS taken`, [
        SWEEP_LOCK,
      ]);
      if (!lock!.taken) return { connectionsToWake: new Map<string, Target>(), outcomes: [] };
      const unknown = await this.expireLeases(tx);
      const released = await this.expireHolds(tx);
      const failed = await this.failOrphaned(tx);
      const overdue = await this.findOverdue(tx);
      return {
        connectionsToWake: new Map(
          [...released, ...overdue].map((connection) => [connection.id, connection]),
        ),
        outcomes: [...unknown, ...failed],
      };
    });
  }

  /** These messages may have been sent, so they become UNKNOWN and are never retried. */
  private expireLeases(tx: Transaction): Promise<OutcomeCount[]> {
    const adapters = this.adapters.all();
    return tx.query<OutcomeCount>(
      `WITH expired AS (
         SELECT d.tenant_id, d.conversation_id, d.message_id, w.channel,
           (SELECT a.hold_ms FROM unnest($1::text[], $2::integer[]) AS a (channel, hold_ms)
            WHERE a.channel = w.channel) AS hold_ms
         FROM message_dispatches d JOIN channel_connections w ON w.id = d.connection_id
         WHERE d.lease_until < now()
         ORDER BY d.tenant_id, d.conversation_id, d.message_id LIMIT ${BATCH} FOR UPDATE OF d SKIP LOCKED
       ), unknown AS (
         UPDATE messages m SET delivery_status = 'UNKNOWN', delivery_error = $3
         FROM expired e
         WHERE m.tenant_id = e.tenant_id AND m.conversation_id = e.conversation_id AND m.id = e.message_id
           AND ${STATUS_BY_KEY} = ANY ($4)
         RETURNING e.*
       ), held AS (
         UPDATE message_dispatches d SET lease_id = NULL, lease_until = NULL,
           holds_until = now() + u.hold_ms * interval '1 millisecond'
         FROM unknown u
         WHERE u.hold_ms > 0
           AND d.tenant_id = u.tenant_id AND d.conversation_id = u.conversation_id AND d.message_id = u.message_id
         RETURNING d.tenant_id, d.conversation_id, d.message_id
       ), ended AS (
         DELETE FROM message_dispatches d USING expired e
         WHERE d.tenant_id = e.tenant_id AND d.conversation_id = e.conversation_id AND d.message_id = e.message_id
           AND NOT EXISTS (
             SELECT FROM unknown u WHERE u.hold_ms > 0
               AND u.tenant_id = d.tenant_id AND u.conversation_id = d.conversation_id
               AND u.message_id = d.message_id)
       )
       SELECT channel, 'unknown' AS outcome, count(*)::integer FROM unknown GROUP BY 1`,
      [
        adapters.map(({ channel }) => channel),
        adapters.map(({ unknownHoldMs }) => unknownHoldMs),
        JSON.stringify(deliveryError('OUTCOME_UNKNOWN')),
        statusesBefore('UNKNOWN'),
      ],
    );
  }

  /** @returns the connections whose conversations may go on */
  private async expireHolds(tx: Transaction): Promise<Target[]> {
    return tx.query<Target>(
      `DELETE FROM message_dispatches WHERE (tenant_id, conversation_id, message_id) IN (
         SELECT tenant_id, conversation_id, message_id FROM message_dispatches
         WHERE holds_until < now() ORDER BY 1, 2, 3 LIMIT ${HOLDS_BATCH} FOR UPDATE SKIP LOCKED)
       RETURNING tenant_id AS "tenantId", connection_id AS id`,
    );
  }

  /** For messages that were routed while their connection was disconnected, or lost its credentials. */
  private failOrphaned(tx: Transaction): Promise<OutcomeCount[]> {
    return tx.query<OutcomeCount>(
      `${CONNECTIONS_WITH_MESSAGES}, orphaned AS (
         SELECT d.*, w.channel,
           CASE w.status WHEN 'REAUTH_REQUIRED' THEN 'REAUTH_REQUIRED' ELSE 'NO_CONNECTION' END AS code
         FROM with_messages p JOIN channel_connections w ON w.id = p.connection_id AND w.status <> 'ACTIVE',
         LATERAL (
           SELECT tenant_id, conversation_id, message_id FROM message_dispatches
           WHERE connection_id = w.id AND lease_id IS NULL AND holds_until IS NULL
           ORDER BY next_attempt_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) d
         LIMIT ${BATCH}
       ), gone AS (
         DELETE FROM message_dispatches d USING orphaned o
         WHERE d.tenant_id = o.tenant_id AND d.conversation_id = o.conversation_id AND d.message_id = o.message_id
       ), failed AS (
         UPDATE messages m SET delivery_status = 'FAILED', delivery_error = jsonb_build_object(
           'code', o.code, 'providerCode', NULL, 'message', $1::jsonb->>o.code)
         FROM orphaned o
         WHERE m.tenant_id = o.tenant_id AND m.conversation_id = o.conversation_id AND m.id = o.message_id
           AND ${STATUS_BY_KEY} = ANY ($2)
         RETURNING o.channel, o.code
       )
       SELECT channel, lower(code) AS outcome, count(*)::integer FROM failed GROUP BY 1, 2`,
      [JSON.stringify(DELIVERY_ERROR_CODES), statusesBefore('FAILED')],
    );
  }

  private async findOverdue(tx: Transaction): Promise<Target[]> {
    return tx.query<Target>(
      `${CONNECTIONS_WITH_MESSAGES}
       SELECT w.tenant_id AS "tenantId", w.id FROM with_messages p JOIN channel_connections w ON w.id = p.connection_id AND ${MAY_SEND},
       LATERAL (
         SELECT FROM message_dispatches d
         WHERE d.connection_id = w.id AND d.next_attempt_at < now() - ${OVERDUE} AND ${IS_READY} LIMIT 1) due
       ORDER BY random() LIMIT ${MAX_WOKEN}`,
    );
  }
}
