import { Injectable } from '@nestjs/common';
import { Actor } from '../../access/principal';
import { AppError } from '../../common/app-error';
import { readFault } from '../../common/error-texts';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { eventCatalog } from '../../outbox/event-catalog';
import { Delivery, TestExample } from '../deliveries/delivery';
import { DeliveryAttempter } from '../deliveries/delivery-attempter';
import { concealHost } from '../sending/host-faults';
import { toReadable } from '../sending/readable-body';
import { checkExample } from './example-check';
import { TestDeliveries } from './test-deliveries';
import { SendExample, WebhookTestResult } from './webhook-test.dto';

@Injectable()
export class WebhookTestService {
  constructor(
    private readonly database: Database,
    private readonly deliveries: TestDeliveries,
    private readonly attempter: DeliveryAttempter,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Sends a `webhook.test` event to one endpoint, even if the endpoint has not subscribed to it, in one
   * attempt by this process. It resolves when the attempt is recorded.
   * @throws AppError FORBIDDEN, NOT_FOUND, WORKSPACE_SUSPENDED; RATE_LIMITED, UNAVAILABLE: too many tests at
   *   once
   */
  test(tenantId: string, endpointId: string, actor: Actor): Promise<WebhookTestResult> {
    return this.runTest(tenantId, endpointId, actor);
  }

  /**
   * Sends the example of an event type to one endpoint, in one attempt by this process. The request has
   * `x-service-test: true`, and a `webhook-id` that begins with `test_`. The example may be edited, except
   * that all its ids must be ids of the catalog's example.
   * @throws AppError INVALID_BODY: data that is no example of the event; FORBIDDEN, also when the plan does
   *   not include the event; NOT_FOUND, WORKSPACE_SUSPENDED; RATE_LIMITED, UNAVAILABLE: too many tests at
   *   once
   */
  async sendExample(
    tenantId: string,
    endpointId: string,
    input: SendExample,
    actor: Actor,
  ): Promise<WebhookTestResult> {
    const { event, data: given } = validate(SendExample, input);
    const data = given ?? eventCatalog[event].example;
    checkExample(event, data);
    return this.runTest(tenantId, endpointId, actor, { event, data });
  }

  private async runTest(
    tenantId: string,
    endpointId: string,
    actor: Actor,
    example?: TestExample,
  ): Promise<WebhookTestResult> {
    const release = await this.budgets.acquire('tests', tenantId);
    try {
      const endpoint = { tenantId, id: endpointId };
      const delivery = await this.database.transaction((tx) =>
        this.deliveries.make(tx, endpoint, actor, example),
      );
      this.budgets.releaseSlot();
      return showTo(actor, await this.attempt(delivery));
    } finally {
      release();
    }
  }

  private async attempt(delivery: Delivery): Promise<WebhookTestResult> {
    const { outcome } = await this.attempter.attempt(delivery);
    if (outcome === null) throw AppError.because('UNAVAILABLE', 'test_not_sent');
    return {
      deliveryId: delivery.id,
      status: outcome.statusCode,
      elapsedMs: Math.round(outcome.durationMs),
      error: outcome.errorMessage,
      fault: outcome.errorMessage === null ? null : readFault(outcome.errorMessage),
      phases: outcome.phases,
      response: outcome.response && (await toReadable(outcome.response, outcome.responseHeaders)),
      responseHeaders: outcome.responseHeaders,
    };
  }
}

/** Returns a result as an actor may see it: a key sees no answers of the operator's name servers. */
function showTo(actor: Actor, result: WebhookTestResult): WebhookTestResult {
  if (actor.type !== 'api_key' || !result.fault) return result;
  const fault = concealHost(result.fault);
  return 'message' in fault ? { ...result, fault, error: fault.message } : result;
}
