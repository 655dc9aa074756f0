import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { hasSubscriberSql, OutboxService } from '../outbox/outbox.service';
import { DeliveryErrorCode, DeliveryStatus } from '../common/message-status';

export const STATUS_CHANGED = 'message.status_changed';

/** Statuses that events report. QUEUED and SENDING are internal steps of the service. */
type ReportedStatus = EventData<typeof STATUS_CHANGED>['status'];

export interface ChangedStatus {
  conversationId: string;
  messageId: string;
  errorCode: DeliveryErrorCode | null;
  /** Whether an active webhook endpoint of the workspace subscribes to status events. */
  hasSubscriber: boolean;
}

/**
 * Returns SQL that reports whether an active webhook endpoint of a workspace subscribes to status events.
 * @param tenantId SQL expression of the workspace's id
 */
export const hasStatusSubscriberSql = (tenantId: string) => hasSubscriberSql(tenantId, STATUS_CHANGED);

/** Appends events about changed statuses, if a webhook endpoint of the workspace subscribes to them. */
@Injectable()
export class StatusEvents {
  constructor(private readonly outbox: OutboxService) {}

  appendPipelined(tx: Transaction, tenantId: string, status: DeliveryStatus, changed: ChangedStatus[]): void {
    if (!isReported(status)) return;
    const subscribed = changed.filter(({ hasSubscriber }) => hasSubscriber);
    if (subscribed.length === 0) return;
    this.outbox.appendAllPipelined(
      tx,
      tenantId,
      STATUS_CHANGED,
      subscribed.map(({ conversationId, messageId, errorCode }) => ({
        conversationId,
        messageId,
        status,
        errorCode,
      })),
    );
  }
}

function isReported(status: DeliveryStatus): status is ReportedStatus {
  return status !== 'QUEUED' && status !== 'SENDING';
}
