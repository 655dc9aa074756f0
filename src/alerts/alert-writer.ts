import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { alertCatalog, AlertKind } from './alert-kinds';
import { AlertKey, AlertsRepository } from './alerts.repository';

/**
 * Opens and resolves alerts in the transaction of their cause. Both may be repeated: a call without effect
 * appends no event. A cause that is frequent, such as a delivery, calls only when its own state changes.
 */
@Injectable()
export class AlertWriter {
  constructor(
    private readonly alerts: AlertsRepository,
    private readonly outbox: OutboxService,
  ) {}

  /** Opens an alert, unless the subject has an open one of this kind. Returns whether it has opened one. */
  async open(tx: Transaction, tenantId: string, kind: AlertKind, subjectId: string): Promise<boolean> {
    const alert = { id: newId(), kind, subjectId, openedAt: new Date() };
    const isOpened = await this.alerts.insert(tx, tenantId, alert);
    if (isOpened) this.append(tx, tenantId, 'alert.opened', alert);
    return isOpened;
  }

  /**
   * Resolves the open alerts of a subject that have one of the kinds.
   * @param openedBy leaves alerts open that were opened later, if the cause is older than this transaction
   */
  async resolve(
    tx: Transaction,
    tenantId: string,
    kinds: AlertKind[],
    subjectId: string,
    openedBy = new Date(),
  ): Promise<void> {
    const resolved = await this.alerts.resolve(tx, tenantId, kinds, subjectId, { at: new Date(), openedBy });
    for (const alert of resolved) this.append(tx, tenantId, 'alert.resolved', alert);
  }

  private append(
    tx: Transaction,
    tenantId: string,
    type: 'alert.opened' | 'alert.resolved',
    { id: alertId, kind, subjectId }: AlertKey,
  ): void {
    const subjectType = alertCatalog[kind].subject;
    this.outbox.appendPipelined(tx, tenantId, type, { alertId, kind, subjectType, subjectId });
  }
}
