import { InboundEvent, InboundWatermark } from '../adapters/hook-events';

/**
 * Merges a customer's watermarks of one status into the latest, because each takes a transaction. The merged
 * one replaces the last, so that it follows the echoes of messages that it covers.
 */
export function mergeWatermarks(events: InboundEvent[]): InboundEvent[] {
  const merged = new Map<string, InboundWatermark>();
  const kept: InboundEvent[] = [];
  for (const event of events.toReversed()) {
    if (event.kind !== 'watermark') {
      kept.push(event);
      continue;
    }
    const key = JSON.stringify([event.accountId, event.customerId, event.status]);
    const known = merged.get(key);
    if (!known) {
      const copy = { ...event };
      merged.set(key, copy);
      kept.push(copy);
    } else if (event.until > known.until) known.until = event.until;
  }
  return kept.reverse();
}
