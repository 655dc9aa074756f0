import { idFloor, newId } from '../../common/ids';
import { Actor, actorIdOf, SYSTEM } from '../../access/principal';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { StoredFilter, WebhookRecovery } from './webhook-recovery';
import { RedeliverMatching } from './webhook-recovery.dto';

/** Returns a new recovery of the events since a time or the endpoint's creation, whichever is later. */
export function planMissed(
  { tenantId, id: endpointId, createdAt }: WebhookEndpoint,
  earliest: Date,
  actor: Actor,
): WebhookRecovery {
  const now = new Date();
  const since = earliest > createdAt ? earliest : createdAt;
  const range = { filter: null, since, until: now, cursor: idFloor(since) };
  return { ...newRecovery(tenantId, endpointId, actor, now), ...range };
}

/** Returns a new recovery of the finished deliveries that match a filter. */
export function planMatching(tenantId: string, filter: RedeliverMatching, actor: Actor): WebhookRecovery {
  const now = new Date();
  const until = filter.until && filter.until < now ? filter.until : now;
  const stored = JSON.parse(JSON.stringify(filter)) as StoredFilter;
  const range = { filter: stored, since: filter.since ?? null, until, cursor: idFloor(until) };
  return { ...newRecovery(tenantId, filter.endpointId, actor, now), ...range };
}

/** Returns a round of an automatic recovery, which sends each event since a time that was missed so far. */
export function planRound(
  { tenantId, id: endpointId }: Pick<WebhookEndpoint, 'tenantId' | 'id'>,
  since: Date,
  now: Date,
): WebhookRecovery {
  const range = { filter: null, since, until: now, cursor: idFloor(since), isTotalComplete: false };
  return { ...newRecovery(tenantId, endpointId, SYSTEM, now), ...range, automatic: 'ROUND' };
}

/** Returns a probe of an automatic recovery: its only delivery is made together with it. */
export function planProbe(
  { tenantId, id: endpointId }: Pick<WebhookEndpoint, 'tenantId' | 'id'>,
  since: Date,
  now: Date,
): WebhookRecovery {
  const range = { filter: null, since, until: now, cursor: idFloor(since), total: 1, recovered: 1 };
  const made = { status: 'COMPLETED' as const, finishedAt: now, automatic: 'PROBE' as const };
  return { ...newRecovery(tenantId, endpointId, SYSTEM, now), ...range, ...made };
}

function newRecovery(tenantId: string, endpointId: string, actor: Actor, createdAt: Date) {
  return {
    id: newId(),
    tenantId,
    endpointId,
    status: 'RUNNING' as const,
    total: 0,
    isTotalComplete: true,
    recovered: 0,
    succeeded: 0,
    exhausted: 0,
    cancelled: 0,
    isSettled: false,
    automatic: null,
    failedInRow: 0,
    startedBy: actorIdOf(actor),
    createdAt,
    finishedAt: null,
  };
}
