import type { Response } from 'express';
import { Metrics } from '../../metrics/metrics';
import { Connections } from '../connections/connections';
import { EventStreams } from './event-streams';

/** Opens streams from addresses until one is refused, and returns how many were opened. */
function countOpened(addressOf: (n: number) => string): number {
  const metrics = new Metrics();
  const streams = new EventStreams(new Connections(metrics), metrics);
  streams.setLimit(100_000);
  for (let n = 0; ; n++) {
    try {
      const response = { req: { ip: addressOf(n), socket: {} }, once: () => undefined };
      streams.start(response as unknown as Response, { workspace: 'workspace', caller: `caller ${n}` });
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
      return n;
    }
  }
}

describe('EventStreams', () => {
  const hex = (n: number) => n.toString(16);

  it.each([
    ['an IPv4 address', 500, () => '192.0.2.1'],
    ['a /64 of IPv6', 500, (n: number) => `2001:db8:1:1::${hex(n)}`],
    ['a /56 of IPv6', 2_000, (n: number) => `2001:db8:1:${hex(n % 256)}::1`],
    ['a /48 of IPv6', 4_000, (n: number) => `2001:db8:1:${hex(n % 65_536)}::1`],
  ])('opens as many for %s as it may have: %d', (_, max, addressOf) => {
    expect(countOpened(addressOf)).toBe(max);
  });
});
