import { Injectable, Logger } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { backoffMs } from '../../common/backoff';
import { Database } from '../../database/database';
import { isDatabaseAway } from '../../database/driver/database-errors';
import { Transaction } from '../../database/transaction';
import { isTest } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { isTooLate, StartBy, startByFromNow } from '../../queue/start-capacity';
import { SecretUnreadable } from '../../secrets/secret-box';
import { ContextReader } from '../context/context-reader';
import { NO_CONTEXT, WebhookContext } from '../context/webhook-context';
import { receivesType } from '../endpoints/subscription';
import { Subscriber, SubscribersRepository } from '../endpoints/subscribers.repository';
import { AttemptOutcome, internalError, isShortage } from '../sending/attempt-outcome';
import { DeliverySender } from '../sending/delivery-sender';
import { StartPermit } from '../../outgoing/vetted-connector';
import { AttemptRecorder } from './attempt-recorder';
import { AttemptRecord, contentOf, Delivery, isOfPresentRecovery } from './delivery';

/** Maximum number of attempts before a delivery is given up: the first attempt and five retries. */
export const MAX_DELIVERY_ATTEMPTS = 6;

/** Milliseconds after which a delivery is due again if its attempt could not start. */
const POSTPONED_MS = 1_000;

/** Thrown when a webhook's context can't be read for a temporary reason. No request has been made then. */
class ContextUnreadable extends Error {
  constructor(cause: unknown) {
    super('a context could not be read', { cause });
  }
}

/** Makes one attempt of a claimed delivery, decides whether a retry follows, and records both. */
@Injectable()
export class DeliveryAttempter {
  private readonly logger = new Logger(DeliveryAttempter.name);

  constructor(
    private readonly database: Database,
    private readonly endpoints: SubscribersRepository,
    private readonly contexts: ContextReader,
    private readonly sender: DeliverySender,
    private readonly recorder: AttemptRecorder,
  ) {}

  async attempt(delivery: Delivery): Promise<AttemptRecord> {
    const permit = this.permitOf(delivery);
    if (permit.isOver()) return this.recorder.record(postpone(delivery, 0));
    const outcome = await this.send(delivery, permit);
    return this.recorder.record(outcome ? decide(delivery, outcome) : postpone(delivery, POSTPONED_MS));
  }

  /** Returns the permission to begin. It ends a second after the claim, because the endpoint may change. */
  private permitOf(delivery: Delivery): StartPermit {
    let { startBy } = delivery;
    return {
      isOver: () => isTooLate(startBy),
      renew: async () => {
        const renewed = await this.claimAgain(delivery);
        startBy = renewed ?? startBy;
        return renewed !== null;
      },
    };
  }

  /** Checks that the endpoint is unchanged. Returns a new limit for the start; null if it may not start. */
  private async claimAgain(delivery: Delivery): Promise<StartBy | null> {
    const { id: deliveryId, endpoint, event } = delivery;
    const claim = async (tx: Transaction) => {
      const [now] = await this.endpoints.lockSubscribers(tx, [endpoint], { inactiveToo: isTest(event.type) });
      const isSent =
        now?.isLocked &&
        isSame(now, endpoint) &&
        receivesType(now, event.type) &&
        isOfPresentRecovery(delivery, now);
      return isSent ? startByFromNow() : null;
    };
    try {
      return await this.database.placement.forWorkspace(endpoint.tenantId, () =>
        this.database.queueTransaction(claim),
      );
    } catch (error) {
      const { tenantId, id: endpointId } = endpoint;
      this.logger.warn(
        { err: error as Error, tenantId, endpointId, deliveryId },
        'an endpoint could not be looked at again; the delivery is postponed',
      );
      return null;
    }
  }

  /**
   * Reads the context that a webhook contains; null if the endpoint wants none. A test has an empty context.
   * @throws ContextUnreadable when this process lacks a resource or its database is unreachable
   */
  private async readContext(
    { context: parts }: Subscriber,
    event: OutboxEvent,
  ): Promise<WebhookContext | null> {
    if (parts === null) return null;
    if (isTest(event.type)) return NO_CONTEXT;
    try {
      return await this.contexts.read(event, parts);
    } catch (error) {
      throw isShortage(error) || isDatabaseAway(error) ? new ContextUnreadable(error) : error;
    }
  }

  private async send(
    { id, endpoint, event, lease }: Delivery,
    permit: StartPermit,
  ): Promise<AttemptOutcome | null> {
    const at = new Date();
    try {
      const { url, secrets } = endpoint;
      if (secrets instanceof SecretUnreadable) throw secrets;
      const content = contentOf(id, event, await this.readContext(endpoint, event));
      // The body has the time of its event, and not of this attempt, because the audit entry has its hash.
      const at = content.isExample && lease === null ? event.createdAt : undefined;
      const request = { url, ...content, ...secrets, keepsHeaders: isTest(event.type), at };
      return await this.sender.send(request, permit);
    } catch (error) {
      if (error instanceof ContextUnreadable || isShortage(error)) {
        const err = (error instanceof ContextUnreadable ? error.cause : error) as Error;
        this.logger.error({ err }, 'an attempt was postponed: this process lacks something');
        return null;
      }
      // An internal error counts like a failure of the receiver, so that the attempts come to an end.
      const { tenantId, id: endpointId } = endpoint;
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId: id },
        'an attempt failed internally',
      );
      return internalError(at);
    }
  }
}

function isSame(now: Subscriber, before: Subscriber): boolean {
  return (
    now.activation === before.activation &&
    now.url === before.url &&
    isDeepStrictEqual(now.context, before.context) &&
    isDeepStrictEqual(now.secrets, before.secrets)
  );
}

function postpone(delivery: Delivery, retryDelayMs: number): AttemptRecord {
  return { delivery, outcome: null, status: 'PENDING', retryDelayMs };
}

function decide(delivery: Delivery, outcome: AttemptOutcome): AttemptRecord {
  if (outcome.kind === 'succeeded') return { delivery, outcome, status: 'SUCCEEDED', retryDelayMs: null };
  const failedAttempts = delivery.attemptCount + 1;
  const delay = failedAttempts < maxAttemptsOf(delivery) ? deliveryRetryDelayMs(failedAttempts) : null;
  return { delivery, outcome, status: delay === null ? 'EXHAUSTED' : 'PENDING', retryDelayMs: delay };
}

/** Returns the milliseconds to wait: 2, 4, 8, 16 or 32 s and up to 10 % more; null if no attempt is left. */
export function deliveryRetryDelayMs(failedAttempts: number, random?: () => number): number | null {
  return failedAttempts >= MAX_DELIVERY_ATTEMPTS ? null : backoffMs(failedAttempts, 0, random);
}

function maxAttemptsOf({ event, automatic }: Delivery): number {
  return automatic || isTest(event.type) ? 1 : MAX_DELIVERY_ATTEMPTS;
}
