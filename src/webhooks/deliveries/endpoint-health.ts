import { Injectable, Logger } from '@nestjs/common';
import { RecordedAttempt } from './pending-deliveries.repository';
import { DeactivationReason, WebhookEndpointsService } from '../endpoints/webhook-endpoints.service';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';

const GONE = 410;
/** An endpoint that has failed without one success for so long is given up. */
const GIVE_UP_AFTER_MS = 5 * 24 * 60 * 60 * 1000;
/** How exactly the last success is kept: writing it with every delivery would cost more than the delivery. */
const SUCCESS_STEP_MS = 60 * 1000;

/** Follows how endpoints fare, and deactivates those that are gone or have failed for days. */
@Injectable()
export class EndpointHealth {
  private readonly logger = new Logger(EndpointHealth.name);

  constructor(
    private readonly repository: WebhookEndpointsRepository,
    private readonly endpoints: WebhookEndpointsService,
  ) {}

  /** Writes only where an attempt says something new of its endpoint, so that a steady one costs nothing. */
  async observe(attempt: RecordedAttempt): Promise<void> {
    const { delivery, outcome } = attempt;
    const { tenantId, endpointId, eventType, failingSince, lastSuccessAt } = delivery;
    // The Test button asks how things are; its answer is for whoever pressed it.
    if (eventType === 'webhook.test') return;
    if (outcome.kind === 'succeeded') {
      const isNews = failingSince || !lastSuccessAt || Date.now() - lastSuccessAt.getTime() > SUCCESS_STEP_MS;
      if (isNews) await this.repository.markSucceeded(tenantId, endpointId, outcome.at);
      return;
    }
    if (!failingSince) await this.repository.markFailing(tenantId, endpointId, outcome.at);
    const reason = reasonToDeactivate(attempt);
    if (!reason) return;
    const wasActive = await this.endpoints.giveUp(tenantId, endpointId, reason);
    if (wasActive) this.logger.warn({ tenantId, endpointId, reason }, 'a webhook endpoint was deactivated');
  }
}

function reasonToDeactivate({ delivery, outcome, status }: RecordedAttempt): DeactivationReason | null {
  if (status !== 'EXHAUSTED') return null;
  if (outcome.statusCode === GONE) return 'gone';
  const { failingSince } = delivery;
  return failingSince && Date.now() - failingSince.getTime() > GIVE_UP_AFTER_MS ? 'failing' : null;
}
