import { Injectable } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { Transaction } from '../../database/transaction';
import { AutomaticRecoveriesRepository } from '../endpoints/automatic-recoveries.repository';
import { AutomaticRecovery } from '../endpoints/automatic-recovery';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

/** Ends automatic recoveries because a person has acted. */
@Injectable()
export class AutomaticEnds {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly states: AutomaticRecoveriesRepository,
    private readonly alerts: AlertWriter,
  ) {}

  /** Ends the automatic recovery of a locked endpoint. Returns its last state; null if there was none. */
  async end(tx: Transaction, endpoint: WebhookEndpoint): Promise<AutomaticRecovery | null> {
    const { tenantId, id } = endpoint;
    const recovery = await this.states.lock(tx, tenantId, id);
    if (!recovery) return null;
    await this.endpoints.leaveAlone(tx, endpoint);
    await this.states.delete(tx, tenantId, id);
    await this.alerts.resolve(tx, tenantId, ['RECOVERY_STOPPED'], id);
    return recovery;
  }

  /** Forgets an automatic recovery that has stopped, because a person recovers the locked endpoint now. */
  async endStopped(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    const recovery = await this.states.find(tx, endpoint.tenantId, endpoint.id);
    if (recovery?.state === 'STOPPED') await this.end(tx, endpoint);
    // The state of an endpoint that was activated since is gone, and its alert is not.
    else await this.alerts.resolve(tx, endpoint.tenantId, ['RECOVERY_STOPPED'], endpoint.id);
  }
}
