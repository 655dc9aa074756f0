import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../access/principal';
import { AlertWriter } from '../../alerts/alert-writer';
import { AuditService } from '../../audit/audit.service';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { AutomaticRecovery } from '../endpoints/automatic-recovery';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookRecovery } from './webhook-recovery';

/** Reports the course of automatic recoveries: in the audit log, by alerts and in the metrics. */
@Injectable()
export class AutomaticReports {
  constructor(
    private readonly audit: AuditService,
    private readonly alerts: AlertWriter,
    private readonly metrics: Metrics,
  ) {}

  noteProbe(tx: Transaction): void {
    tx.onCommit(() => this.metrics.webhookProbes.inc());
  }

  async noteStart(
    tx: Transaction,
    endpoint: WebhookEndpoint,
    { since, rounds: round }: AutomaticRecovery,
    recoveryId: string,
  ): Promise<void> {
    const { tenantId, id } = endpoint;
    await this.alerts.resolve(tx, tenantId, ['RECOVERY_FINISHED', 'RECOVERY_STOPPED'], id);
    this.recordPipelined(tx, endpoint, 'recovery_started', { recoveryId, since: since.toISOString(), round });
  }

  /** Reports that an endpoint is healthy. `round` is the last round. */
  async noteFinish(
    tx: Transaction,
    endpoint: WebhookEndpoint,
    { since, rounds }: AutomaticRecovery,
    round: WebhookRecovery | null,
  ): Promise<void> {
    await this.alerts.open(tx, endpoint.tenantId, 'RECOVERY_FINISHED', endpoint.id);
    const { recovered, succeeded } = round ?? {};
    const details = { since: since.toISOString(), rounds, recovered, succeeded };
    this.recordPipelined(tx, endpoint, 'recovery_finished', details);
    tx.onCommit(() => this.metrics.webhookAutomaticRecoveries.inc({ outcome: 'finished' }));
  }

  async noteStop(
    tx: Transaction,
    endpoint: WebhookEndpoint,
    { since, rounds, stopReason: reason }: AutomaticRecovery,
  ): Promise<void> {
    await this.alerts.open(tx, endpoint.tenantId, 'RECOVERY_STOPPED', endpoint.id);
    const details = { since: since.toISOString(), rounds, reason };
    this.recordPipelined(tx, endpoint, 'recovery_stopped', details);
    tx.onCommit(() => this.metrics.webhookAutomaticRecoveries.inc({ outcome: 'stopped' }));
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id, url }: WebhookEndpoint,
    action: string,
    details: object,
  ): void {
    this.audit.appendPipelined(tx, {
      tenantId,
      actor: SYSTEM,
      action: `webhook_endpoint.${action}`,
      entity: 'webhook_endpoint',
      entityId: id,
      metadata: { url, automatic: true, ...details },
    });
  }
}
