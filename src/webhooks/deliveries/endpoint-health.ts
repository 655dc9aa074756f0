import { Injectable, Logger } from '@nestjs/common';
import { RecordedAttempt } from './pending-deliveries.repository';
import { DeactivationReason, WebhookEndpointsService } from '../endpoints/webhook-endpoints.service';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

const GONE = 410;
/** Without a success. */
const DEACTIVATE_AFTER_MS = 5 * 24 * 60 * 60 * 1000;
/** Writing the last success after every delivery would cost more than the delivery. */
const SUCCESS_STEP_MS = 60 * 1000;

/** Updates the health of endpoints, and deactivates gone or failing ones. */
@Injectable()
export class EndpointHealth {
  private readonly logger = new Logger(EndpointHealth.name);

  constructor(
    private readonly repository: WebhookEndpointsRepository,
    private readonly endpoints: WebhookEndpointsService,
  ) {}

  /** Writes only a change of health, so a steady endpoint costs nothing. */
  async observe(attempt: RecordedAttempt): Promise<void> {
    const { delivery, outcome } = attempt;
    const { tenantId, endpointId, eventType, failingSince, lastSuccessAt } = delivery;
    // A test is no traffic of the endpoint.
    if (eventType === 'webhook.test') return;
    if (outcome.kind === 'succeeded') {
      const isChange =
        failingSince || !lastSuccessAt || Date.now() - lastSuccessAt.getTime() > SUCCESS_STEP_MS;
      if (isChange) await this.repository.markSucceeded(tenantId, endpointId, outcome.at);
      return;
    }
    if (!failingSince) await this.repository.markFailing(tenantId, endpointId, outcome.at);
    const reason = reasonToDeactivate(attempt);
    if (!reason) return;
    const wasActive = await this.endpoints.deactivateAfterFailures(tenantId, endpointId, reason);
    if (wasActive) this.logger.warn({ tenantId, endpointId, reason }, 'a webhook endpoint was deactivated');
  }
}

function reasonToDeactivate({ delivery, outcome, status }: RecordedAttempt): DeactivationReason | null {
  if (status !== 'EXHAUSTED') return null;
  if (outcome.statusCode === GONE) return 'gone';
  const { failingSince } = delivery;
  return failingSince && Date.now() - failingSince.getTime() > DEACTIVATE_AFTER_MS ? 'failing' : null;
}
