import { IPv6 } from 'ipaddr.js';
import type { Request } from 'express';
import { parseAddress, unmapped } from '../common/network';

/**
 * Number of an IPv6 address's eight parts that count. A customer of a network provider has at least a /64, so
 * all its addresses count as one.
 */
const IPV6_PARTS = 4;

/**
 * Returns the network that limits count a request for, as `TRUST_PROXY` says: an IPv4 address, or the /64 of
 * an IPv6 address.
 */
export function clientNetworkOf({ ip }: Pick<Request, 'ip'>): string {
  return ip === undefined ? 'unknown' : networkOf(ip);
}

export function networkOf(address: string): string {
  // Nearly every request comes from an IPv4 address.
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address.split('%', 1)[0]!);
  const plain = parsed && unmapped(parsed);
  if (!(plain instanceof IPv6)) return plain?.toString() ?? address;
  const parts = plain.parts.slice(0, IPV6_PARTS).map((part) => part.toString(16));
  return `${parts.join(':')}::/64`;
}
