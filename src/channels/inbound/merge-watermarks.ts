import { InboundEvent, InboundWatermark } from '../adapters/hook-events';

/**
 * A watermark reports that all messages sent to a customer up to a time have a status. Merges a customer's
 * watermarks of one status into one with the latest time, because each takes a transaction. It has the place
 * of the last, so that it follows the reports of the sent messages (echoes).
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
