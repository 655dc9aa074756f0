import { InboundEvent, InboundWatermark } from '../adapters/hook-events';

/**
 * Merges the watermarks in one request: for each customer and status the latest time stays. It stands in the
 * place of the last watermark, behind the echoes of messages that it reports. A body can hold thousands, and
 * each that is kept takes a transaction.
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
