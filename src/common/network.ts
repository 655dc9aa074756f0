import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [Address, number];

const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/;

/**
 * Parses a network in CIDR notation.
 * @throws Error with a message for people if the text is not such a network
 */
export function parseNetwork(cidr: string): Network {
  const [address = '', prefixLength = '', ...rest] = cidr.split('/');
  const isWellFormed =
    parseAddress(address) !== null && PREFIX_LENGTH.test(prefixLength) && rest.length === 0;
  if (!isWellFormed || !ipaddr.isValidCIDR(cidr)) throw new Error(`"${cidr}" is not a CIDR network`);
  return ipaddr.parseCIDR(cidr);
}

/**
 * Parses an IP address in its usual form; returns null for any other text. ipaddr.js alone would also accept
 * octal, hexadecimal and short forms, and zone ids.
 */
export function parseAddress(address: string): Address | null {
  return isIP(address) === 0 || address.includes('%') ? null : ipaddr.parse(address);
}

export function isWithin(address: Address, [network, prefixLength]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, prefixLength);
}

/** Returns the IPv4 address inside an IPv4-mapped IPv6 address, or any other address unchanged. */
export function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * Reports whether a text is a network in CIDR notation without bits set after its prefix. It is false for a
 * network of IPv4-mapped addresses.
 */
export function isExactNetwork(cidr: string): boolean {
  try {
    const [address] = parseNetwork(cidr);
    const family = address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
    const isExact = address.toString() === family.networkAddressFromCIDR(cidr).toString();
    return isExact && unmapped(address) === address;
  } catch {
    return false;
  }
}

/** Reports whether a client's address is in one of the networks. An IPv4-mapped address counts as IPv4. */
export function isInNetworks(address: string | undefined, networks: readonly string[]): boolean {
  const parsed = address === undefined ? null : parseAddress(address);
  if (!parsed) return false;
  const client = unmapped(parsed);
  return networks.some((network) => isWithin(client, parseNetwork(network)));
}
