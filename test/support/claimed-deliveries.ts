import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { startByFromNow } from '../../src/queue/start-capacity';
import { AttemptRecord, Delivery } from '../../src/webhooks/deliveries/delivery';
import {
  ClaimedRow,
  PendingDeliveriesRepository,
} from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { Subscriber } from '../../src/webhooks/endpoints/subscribers.repository';
import { MessagingHost } from './messaging-host';

const RETRY_MS = 2_000;

export type Claimed = ClaimedRow & { leaseId: string };

/** A workspace and its endpoint. */
interface Owed {
  id: string;
  endpoint: { id: string };
}

/** Claims pending deliveries of one activation of an endpoint. */
export async function claimPending(
  host: MessagingHost,
  { id: tenantId, endpoint }: Owed,
  count = 10,
  activation = 1,
): Promise<Claimed[]> {
  const leaseId = newId();
  const requests = [{ tenantId, endpointId: endpoint.id, activation, recovered: false, count }];
  const rows = await host
    .get(Database)
    .queueTransaction((tx) => host.get(PendingDeliveriesRepository).claim(tx, requests, leaseId));
  return rows.map((row) => ({ ...row, leaseId }));
}

/** Returns the record of an attempt of a claimed delivery. */
export function recordOf(
  owed: Owed,
  claimed: Pick<Claimed, 'id' | 'event' | 'round' | 'attemptCount' | 'recovered' | 'leaseId'>,
  status: AttemptRecord['status'],
): AttemptRecord {
  const { id, event, round, attemptCount, recovered, leaseId } = claimed;
  const identity = { tenantId: owed.id, id: owed.endpoint.id, activation: 1 };
  const endpoint = { ...identity, recoversSince: null } as Subscriber;
  const delivery: Delivery = {
    id,
    event,
    endpoint,
    lease: { id: leaseId, on: 'row' },
    round,
    attemptCount,
    recovered,
    recoveryId: null,
    automatic: false,
    startBy: startByFromNow(),
  };
  const phases = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  const made = { at: new Date(), durationMs: 5, response: null, responseHeaders: null, phases };
  return {
    delivery,
    status,
    retryDelayMs: status === 'PENDING' ? RETRY_MS : null,
    outcome:
      status === 'SUCCEEDED'
        ? { kind: 'succeeded', ...made, statusCode: 200, error: null, errorMessage: null }
        : { kind: 'failed', ...made, statusCode: 500, error: 'status', errorMessage: 'Answered 500' },
  };
}
