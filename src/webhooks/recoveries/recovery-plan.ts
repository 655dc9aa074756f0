import { idFloor, newId } from '../../common/ids';
import { Actor, actorIdOf } from '../../access/principal';
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
    startedBy: actorIdOf(actor),
    createdAt,
    finishedAt: null,
  };
}
