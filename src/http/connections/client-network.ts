import { IPv6 } from 'ipaddr.js';
import type { Request } from 'express';
import { parseAddress, unmapped } from '../../common/network';

/** Bits of the IPv6 network that counts as one client, because one subscriber may have a whole /64. */
const IPV6_PREFIX = 64;
/** Bits of the larger IPv6 networks that one subscriber may have. Each has a limit of its own. */
const WIDER_PREFIXES = [56, 48];
/** Factors by which the limit of one client is multiplied: for an IPv4 address or /64, a /56 and a /48. */
const NETWORK_FACTORS = [1, 4, 8];
const PART_BITS = 16;

/**
 * Returns the network that counts as the client of a request: the client's IPv4 address, or the /64 of its
 * IPv6 address. `TRUST_PROXY` decides which address is the client's.
 */
export function clientNetworkOf({ ip }: Pick<Request, 'ip'>): string {
  return ip === undefined ? 'unknown' : networkOf(ip);
}

export function networkOf(address: string): string {
  return networksOf(address)[0];
}

/**
 * Returns the networks whose limits apply to an address, the smallest first: an IPv4 address alone, or the
 * /64, /56 and /48 of an IPv6 address.
 */
export function networksOf(address: string): [string, ...string[]] {
  if (!address.includes(':')) return [address];
  const parsed = parseAddress(address.split('%', 1)[0]!);
  const plain = parsed && unmapped(parsed);
  if (!(plain instanceof IPv6)) return [plain?.toString() ?? address];
  return [prefixOf(plain, IPV6_PREFIX), ...WIDER_PREFIXES.map((bits) => prefixOf(plain, bits))];
}

/**
 * Returns the networks whose limits apply to an address, each with its limit.
 * @param max limit of the smallest network
 */
export function limitedNetworksOf(address: string, max: number): [network: string, max: number][] {
  return networksOf(address).map((network, n) => [network, max * NETWORK_FACTORS[n]!]);
}

function prefixOf({ parts }: IPv6, bits: number): string {
  const kept = parts.slice(0, Math.ceil(bits / PART_BITS));
  const cut = (kept.length * PART_BITS - bits) % PART_BITS;
  kept.push((kept.pop()! >> cut) << cut);
  return `${kept.map((part) => part.toString(16)).join(':')}::/${bits}`;
}
