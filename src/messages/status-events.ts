import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { OutboxService } from '../outbox/outbox.service';
import { isTakenSql } from '../outbox/taken-type';
import { DeliveryErrorCode, DeliveryStatus } from './message-status';

/** Type of the events of changed statuses. */
export const STATUS_CHANGED = 'message.status_changed';

/** Statuses of which events tell. QUEUED and SENDING are steps of the service's own. */
type ToldStatus = EventData<typeof STATUS_CHANGED>['status'];

/** Message of which a statement has changed the status. */
export interface ChangedStatus {
  conversationId: string;
  messageId: string;
  errorCode: DeliveryErrorCode | null;
  /** Answer of `isStatusTakenSql` for the message's workspace. */
  isTaken: boolean;
}

/** Returns SQL that reports whether a workspace's events of statuses have a taker, and so are stored. */
export const isStatusTakenSql = (tenantId: string) => isTakenSql(tenantId, STATUS_CHANGED);

/** Appends the events of changed statuses, in the transaction of the change, if somebody takes them. */
@Injectable()
export class StatusEvents {
  constructor(private readonly outbox: OutboxService) {}

  appendPipelined(tx: Transaction, tenantId: string, status: DeliveryStatus, changed: ChangedStatus[]): void {
    if (!isTold(status)) return;
    const taken = changed.filter(({ isTaken }) => isTaken);
    if (taken.length === 0) return;
    this.outbox.appendAllPipelined(
      tx,
      tenantId,
      STATUS_CHANGED,
      taken.map(({ conversationId, messageId, errorCode }) => ({
        conversationId,
        messageId,
        status,
        errorCode,
      })),
    );
  }
}

function isTold(status: DeliveryStatus): status is ToldStatus {
  return status !== 'QUEUED' && status !== 'SENDING';
}
