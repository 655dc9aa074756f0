import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const MAX_URL_LENGTH = 2048;
const HTTPS_PORT = 443;
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Azure's metadata and DNS service: globally routable by its number, yet always the host's own. */
const CLOUD_PLATFORM_ADDRESS = ipaddr.parse('168.63.129.16').toString();

/** The only block of IPv6 from which global unicast addresses are given out (IANA). */
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Endings that never name a host of the public Internet: special-use domains (RFC 6761, 6762, 7686, 8375),
 * `internal` and the endings that ICANN keeps out of the root because private networks use them.
 */
const LOCAL_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'home.arpa',
  'home',
  'corp',
  'lan',
  'test',
  'invalid',
  'onion',
];

const DNS_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_DNS_NAME_LENGTH = 253;

/** An endpoint's URL can't be used. The message is meant for the customer who gave it. */
export class EndpointUrlRefused extends Error {
  override readonly name = 'EndpointUrlRefused';
}

/**
 * What a name stands for may not be connected to. The message names no address: a name that only this
 * network can resolve must not be readable through an endpoint's failures.
 */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Decides which addresses webhooks may reach. Closed by default: only globally routable unicast, and
 * what lies in the operator's own networks (CIDR), which may re-allow anything.
 */
export class AddressPolicy {
  private readonly operatorNetworks: readonly Network[];

  constructor(allowedNetworks: readonly string[]) {
    this.operatorNetworks = allowedNetworks.map(parseNetwork);
  }

  /** Takes an address in its standard spelling; anything else is refused. */
  permits(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== null && (this.isInOperatorNetwork(parsed) || isPublic(parsed));
  }

  isOperatorAddress(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== null && this.isInOperatorNetwork(parsed);
  }

  /**
   * Reads an endpoint's URL as a browser would and returns it normalised, or throws EndpointUrlRefused.
   * An IP literal is vetted here; a name's addresses only when it is resolved (see `vet`). A fragment is
   * refused rather than dropped: no server ever sees it, so it was put there by mistake.
   */
  parseEndpointUrl(input: string): URL {
    const url = parseUrl(input);
    refuseUnfitForm(url, input);
    const host = hostOf(url);
    if (isIP(host) === 0) this.refuseUnfitName(host);
    else if (!this.permits(host)) throw new EndpointUrlRefused(`The address ${host} is not a public one`);
    return url;
  }

  /**
   * Throws AddressRefused unless every address of the host may be used. A mixed answer is refused whole:
   * whoever controls the name would otherwise choose which of them is used when.
   */
  vet(hostname: string, addresses: readonly string[]): void {
    if (addresses.length === 0) throw new AddressRefused(`${hostname} has no address`);
    const local = isLocalName(hostname);
    const usable = (address: string) => (local ? this.isOperatorAddress(address) : this.permits(address));
    if (!addresses.every(usable)) {
      throw new AddressRefused(
        isIP(hostname) === 0
          ? `${hostname} resolves to an address that is not public`
          : `The address ${hostname} is not a public one`,
      );
    }
  }

  private isInOperatorNetwork(address: Address): boolean {
    return this.operatorNetworks.some((network) => isWithin(address, network));
  }

  private refuseUnfitName(host: string): void {
    if (host.length > MAX_DNS_NAME_LENGTH || !host.split('.').every((label) => DNS_LABEL.test(label))) {
      throw new EndpointUrlRefused(`${host} is not a valid host name`);
    }
    if (isLocalName(host) && this.operatorNetworks.length === 0) {
      throw new EndpointUrlRefused(`${host} is a local name; the host must be reachable from the Internet`);
    }
  }
}

/** Not by `URL.canParse`: once optimised, Node 20's takes a name like "bücher" for no URL. */
function urlOf(input: string): URL {
  try {
    return new URL(input);
  } catch {
    throw new EndpointUrlRefused('This is not a valid URL');
  }
}

function parseUrl(input: string): URL {
  if (input.length > MAX_URL_LENGTH) throw tooLong();
  const url = urlOf(input);
  // "example.com." is "example.com", but neither TLS nor the Host header wants the root's dot.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

function refuseUnfitForm(url: URL, input: string): void {
  if (url.protocol !== 'https:') throw new EndpointUrlRefused('The URL must begin with https://');
  if (url.username !== '' || url.password !== '') {
    throw new EndpointUrlRefused('The URL must not contain a user name or password');
  }
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FIRST_UNPRIVILEGED_PORT) {
    throw new EndpointUrlRefused(`Port ${port} is not allowed; use 443, or 1024 and above`);
  }
  if (input.includes('#')) {
    throw new EndpointUrlRefused('The URL must not contain a fragment (#…): no server receives it');
  }
  // Percent-encoding may have lengthened it.
  if (url.href.length > MAX_URL_LENGTH) throw tooLong();
}

function tooLong(): EndpointUrlRefused {
  return new EndpointUrlRefused(`The URL must not be longer than ${MAX_URL_LENGTH} characters`);
}

/** The host without the brackets that an IPv6 literal has in a URL. */
function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function isLocalName(hostname: string): boolean {
  if (isIP(hostname) !== 0) return false;
  return (
    !hostname.includes('.') ||
    LOCAL_SUFFIXES.some((suffix) => hostname === suffix || hostname.endsWith(`.${suffix}`))
  );
}

function parseNetwork(cidr: string): Network {
  if (!ipaddr.isValidCIDR(cidr)) throw new Error(`Not a network in CIDR notation: "${cidr}"`);
  return ipaddr.parseCIDR(cidr);
}

/** ipaddr.js reads octal, hexadecimal and short forms too; only the one standard spelling passes here. */
function parseAddress(address: string): Address | null {
  return isIP(address) === 0 || address.includes('%') ? null : ipaddr.parse(address);
}

function isWithin(address: Address, [network, prefixLength]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, prefixLength);
}

function isPublic(address: Address): boolean {
  if (address.toString() === CLOUD_PLATFORM_ADDRESS) return false;
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || isGlobalIpv6(address);
}

/** To the library, "unicast" is whatever it has no name for: IPv4-compatible and unassigned space too. */
function isGlobalIpv6(address: ipaddr.IPv6): boolean {
  return address.match(GLOBAL_UNICAST_IPV6) && !isIsatap(address);
}

/** ISATAP (RFC 5214) hides an IPv4 address behind 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
