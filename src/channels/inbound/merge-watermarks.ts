import { InboundEvent, InboundWatermark } from '../adapters/hook-events';

/**
 * Merges watermarks by customer and status to the latest time, because each takes a transaction and a request
 * can have thousands. The merged one replaces the last, after the echoes of messages that it covers.
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
