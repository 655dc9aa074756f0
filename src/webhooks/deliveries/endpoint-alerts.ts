import { Injectable } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { Database } from '../../database/database';
import { EndpointHealthRepository, HealthChange } from '../endpoints/endpoint-health.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

/** Opens and resolves the alert of an endpoint that fails, under the lock of the endpoint's row. */
@Injectable()
export class EndpointAlerts {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly health: EndpointHealthRepository,
    private readonly alerts: AlertWriter,
  ) {}

  /**
   * Opens the alert when a delivery was given up, unless a success followed or the endpoint is inactive. It
   * replaces the news that the endpoint has recovered.
   */
  async openFailing({ tenantId, id, url }: HealthChange): Promise<void> {
    await this.database.transaction(async (tx) => {
      const endpoint = await this.endpoints.lock(tx, tenantId, id);
      if (!endpoint?.active || endpoint.url !== url || !endpoint.failingSince) return;
      if (await this.alerts.open(tx, tenantId, 'ENDPOINT_FAILING', id))
        await this.alerts.resolve(tx, tenantId, ['RECOVERY_FINISHED'], id);
    });
  }

  /** Records the first success after failures, and resolves the alert together with it. */
  async endFailing(change: HealthChange): Promise<void> {
    await this.database.transaction(async (tx) => {
      const cleared = await this.health.markSucceeded([change], tx);
      if (cleared > 0) await this.alerts.resolve(tx, change.tenantId, ['ENDPOINT_FAILING'], change.id);
    });
  }
}
