import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Database } from '../../database/database';
import { OutboundMessageRouter } from './outbound-message.router';

/** By then the event has long been relayed. */
const OVERDUE_MS = 60_000;
const BATCH = 500;

/** QUEUED messages older than the id $2, once every event older than $2 is relayed. */
const SELECT_UNROUTED = `
  SELECT m.tenant_id, m.conversation_id, m.id FROM messages m
  WHERE m.delivery_status = 'QUEUED' AND m.id < $2
    AND NOT EXISTS (
      SELECT FROM message_dispatches d
      WHERE d.tenant_id = m.tenant_id AND d.conversation_id = m.conversation_id AND d.message_id = m.id)
    AND NOT EXISTS (SELECT FROM event_queue q WHERE q.tenant_id = m.tenant_id AND q.event_id < $2)
  ORDER BY m.tenant_id, m.conversation_id, m.id LIMIT ${BATCH} FOR NO KEY UPDATE OF m SKIP LOCKED`;

/**
 * Routes messages that no consumer has seen: during an upgrade, a worker of a release without channels relays events
 * too. An unrouted message would block its conversation for ever.
 */
@Injectable()
export class UnroutedMessages {
  constructor(
    private readonly database: Database,
    private readonly router: OutboundMessageRouter,
  ) {}

  async route(): Promise<void> {
    const before = idFloor(new Date(Date.now() - OVERDUE_MS));
    await this.database.transaction((tx) => this.router.route(tx, SELECT_UNROUTED, [before]));
  }
}
