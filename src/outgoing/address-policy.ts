import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';
import { Fault, makeFault } from '../common/error-texts';
import { Address, isWithin, Network, parseAddress, parseNetwork, unmapped } from '../common/network';
import { findUnseen, trimUnseen } from '../common/unseen';

const MAX_URL_LENGTH = 2048;
const HTTPS_PORT = 443;
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Address of Azure's metadata and DNS service: globally routable, but part of the server's platform. */
const CLOUD_PLATFORM_ADDRESS = ipaddr.parse('168.63.129.16').toString();

/** Only IPv6 block from which IANA assigns global unicast addresses. */
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Domains without public hosts: special-use domains (RFC 6761, 6762, 7686, 8375), `internal`, and names that
 * ICANN does not delegate because private networks use them.
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

export class EndpointUrlRefused extends Error {
  override readonly name = 'EndpointUrlRefused';

  constructor(readonly fault: Fault) {
    super(fault.message);
  }
}

/** Error for a refused connection. Its message hides how the operator's network resolves the name. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor(readonly fault: Fault) {
    super(fault.message);
  }
}

/**
 * Decides which addresses webhooks may reach: globally routable unicast addresses and networks that the
 * operator allows, except networks that the operator denies. Networks are in CIDR notation.
 */
export class AddressPolicy {
  private readonly allowedNetworks: readonly Network[];
  private readonly deniedNetworks: readonly Network[];

  constructor(allowedNetworks: readonly string[], deniedNetworks: readonly string[] = []) {
    this.allowedNetworks = allowedNetworks.map(parseNetwork);
    this.deniedNetworks = deniedNetworks.map(parseNetwork);
  }

  /** Reports whether webhooks may reach an address. An address in a non-standard spelling is refused. */
  permits(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== null && !this.isDenied(parsed) && (this.isAllowed(parsed) || isPublic(parsed));
  }

  /** Reports whether an address is permitted because the operator allows its network. */
  isOperatorAddress(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== null && !this.isDenied(parsed) && this.isAllowed(parsed);
  }

  /**
   * Parses and checks an endpoint's URL. Invisible characters are removed at its ends. Inside they are
   * refused, because a browser would drop some and encode others. An IP literal is checked here; the
   * addresses of a host name are checked by `vet`, after the lookup. A fragment is refused, because no server
   * would receive it.
   * @returns the URL, normalised
   * @throws EndpointUrlRefused
   */
  parseEndpointUrl(input: string): URL {
    if (input.length > MAX_URL_LENGTH) throw tooLong();
    const text = trimUnseen(input);
    const url = parseUrl(text);
    refuseUnfitForm(url, text);
    const host = hostOf(url);
    if (isIP(host) === 0) this.refuseUnfitName(host);
    else if (!this.permits(host)) throw new EndpointUrlRefused(this.refusalOf(host, host));
    return url;
  }

  /**
   * Requires that all addresses of a host are permitted, because the host's owner could choose the one to
   * which a connection is made. The addresses of a local name must be in networks that the operator allows.
   * @throws AddressRefused
   */
  vet(hostname: string, addresses: readonly string[]): void {
    if (addresses.length === 0)
      throw new AddressRefused(makeFault('host_without_address', { host: hostname }));
    const local = isLocalName(hostname);
    const usable = (address: string) => (local ? this.isOperatorAddress(address) : this.permits(address));
    const refused = addresses.find((address) => !usable(address));
    if (refused !== undefined) throw new AddressRefused(this.refusalOf(hostname, refused));
  }

  private refusalOf(host: string, refused: string): Fault {
    const parsed = parseAddress(refused);
    const isDenied = parsed !== null && this.isDenied(parsed);
    if (isIP(host) === 0) return makeFault(isDenied ? 'host_denied' : 'host_private', { host });
    return makeFault(isDenied ? 'address_denied' : 'address_private', { host });
  }

  private isAllowed(address: Address): boolean {
    return this.allowedNetworks.some((network) => isWithin(address, network));
  }

  /**
   * Reports whether the operator denies an address. An IPv6 address that contains a denied IPv4 address
   * (IPv4-mapped or NAT64) is denied too, even if the operator allows the IPv6 network.
   */
  private isDenied(address: Address): boolean {
    const carried = carriedIpv4(address);
    return this.deniedNetworks.some((network) => isWithin(address, network) || isWithin(carried, network));
  }

  private refuseUnfitName(host: string): void {
    if (host.length > MAX_DNS_NAME_LENGTH || !host.split('.').every((label) => DNS_LABEL.test(label))) {
      throw new EndpointUrlRefused(makeFault('host_invalid', { host }));
    }
    if (isLocalName(host) && this.allowedNetworks.length === 0) {
      throw new EndpointUrlRefused(makeFault('host_local', { host }));
    }
  }
}

/** Parses a URL. `URL.canParse` is not used, because that of Node 20 may reject names like "bücher". */
function urlOf(input: string): URL {
  try {
    return new URL(input);
  } catch {
    throw new EndpointUrlRefused(makeFault('url_invalid'));
  }
}

function parseUrl(input: string): URL {
  const unseen = findUnseen(input);
  if (unseen) throw new EndpointUrlRefused(makeFault('url_unseen', { character: unseen }));
  const url = urlOf(input);
  // The final dot of "example.com." is removed, because TLS and the Host header do not accept it.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

function refuseUnfitForm(url: URL, input: string): void {
  if (url.protocol !== 'https:') throw new EndpointUrlRefused(makeFault('url_not_https'));
  if (url.username !== '' || url.password !== '') {
    throw new EndpointUrlRefused(makeFault('url_has_login'));
  }
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FIRST_UNPRIVILEGED_PORT) {
    throw new EndpointUrlRefused(makeFault('url_port', { port }));
  }
  if (input.includes('#')) {
    throw new EndpointUrlRefused(makeFault('url_has_fragment'));
  }
  // The length is checked after parsing, because percent-encoding may have lengthened the URL.
  if (url.href.length > MAX_URL_LENGTH) throw tooLong();
}

function tooLong(): EndpointUrlRefused {
  return new EndpointUrlRefused(makeFault('url_too_long', { max: MAX_URL_LENGTH }));
}

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

/** Returns the IPv4 address inside an IPv4-mapped or NAT64 (RFC 6052) address; other ones unchanged. */
function carriedIpv4(address: Address): Address {
  const isNat64 = address instanceof ipaddr.IPv6 && address.range() === 'rfc6052';
  return isNat64 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : unmapped(address);
}

function isPublic(address: Address): boolean {
  if (address.toString() === CLOUD_PLATFORM_ADDRESS) return false;
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || isGlobalIpv6(address);
}

/** Reports whether an IPv6 address is global unicast. To ipaddr.js, unassigned space is "unicast" too. */
function isGlobalIpv6(address: ipaddr.IPv6): boolean {
  return address.match(GLOBAL_UNICAST_IPV6) && !isIsatap(address);
}

/** Reports whether an address is ISATAP (RFC 5214): an IPv4 address after 0000:5efe or 0200:5efe. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
