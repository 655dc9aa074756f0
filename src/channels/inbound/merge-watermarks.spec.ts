import { InboundEcho, InboundWatermark } from '../adapters/hook-events';
import { mergeWatermarks } from './merge-watermarks';

describe('watermarks of one request', () => {
  const watermark = (at: number, changes: Partial<InboundWatermark> = {}): InboundWatermark => ({
    kind: 'watermark',
    accountId: 'page',
    customerId: 'ada',
    status: 'DELIVERED',
    until: new Date(at),
    ...changes,
  });
  const echo = (providerId: string): InboundEcho => ({
    kind: 'echo',
    accountId: 'page',
    customerId: 'ada',
    providerId,
    messageId: null,
    body: null,
    at: null,
  });

  it('are one with the latest time, behind the echoes that it reports', () => {
    const thousands = Array.from({ length: 5_000 }, (_, n) => watermark(1_000 + ((n * 7) % 5_000)));
    const events = [echo('m_1'), ...thousands, echo('m_2'), watermark(3), echo('m_3')];
    expect(mergeWatermarks(events)).toEqual([echo('m_1'), echo('m_2'), watermark(5_999), echo('m_3')]);
  });

  it('stay apart by account, customer and status', () => {
    const events = [
      watermark(1),
      watermark(2, { status: 'READ' }),
      watermark(3, { customerId: 'eve' }),
      watermark(4, { accountId: 'other' }),
    ];
    expect(mergeWatermarks(events)).toEqual(events);
  });
});
