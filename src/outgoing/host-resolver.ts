import { promises as dns } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { Fault, makeFault } from '../common/error-texts';

const DEFAULT_TIMEOUT_MS = 5000;

/** Code of c-ares for a name without an address of the queried family. */
const NO_ADDRESS = 'ENODATA';

interface HostResolverOptions {
  /** Name servers as `address` or `address:port`; the system's by default. */
  servers?: readonly string[];
  /** Milliseconds for the whole lookup of a name: both address families and all retries. */
  timeoutMs?: number;
  hostsFile?: string;
}

/**
 * Failure to resolve a name. `code` is a code of c-ares (ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT, …), or
 * EHOSTSFILE for an unreadable hosts file.
 */
export class DnsFailure extends Error {
  override readonly name = 'DnsFailure';
  readonly fault: Fault;

  constructor(
    readonly code: string,
    hostname: string,
    cause?: unknown,
  ) {
    const fault = faultOf(code, hostname);
    super(fault.message, { cause });
    this.fault = fault;
  }
}

function faultOf(code: string, host: string): Fault {
  switch (code) {
    case 'ENOTFOUND':
      return makeFault('host_unknown', { host });
    case 'ENODATA':
      return makeFault('host_without_address', { host });
    case 'ESERVFAIL':
      return makeFault('host_servfail', { host });
    case 'ETIMEOUT':
      return makeFault('host_timeout', { host });
    default:
      return makeFault('host_unresolved', { host, code });
  }
}

/**
 * Resolves names by c-ares, within a timeout. It does not use `dns.lookup`, because a slow name server would
 * block one of the process's four threads. It reads the hosts file itself, because c-ares' queries ignore it.
 */
export class HostResolver {
  private readonly hosts: HostsFile;
  private readonly servers: readonly string[] | undefined;
  private readonly timeoutMs: number;

  constructor(options: HostResolverOptions = {}) {
    this.hosts = new HostsFile(options.hostsFile ?? '/etc/hosts');
    this.servers = options.servers;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /**
   * Returns all addresses of a name, at least one, IPv4 first.
   * @throws DnsFailure
   */
  async resolve(hostname: string): Promise<string[]> {
    const listed = await this.hosts.addressesOf(hostname).catch((cause: unknown) => {
      throw new DnsFailure('EHOSTSFILE', hostname, cause);
    });
    return listed.length > 0 ? listed : this.query(hostname);
  }

  /**
   * Queries IPv4 and IPv6 addresses. Each lookup has its own resolver, so that it uses the system's present
   * name servers and can be cancelled alone. If one family fails, the addresses of the other are enough.
   */
  private async query(hostname: string): Promise<string[]> {
    const resolver = new dns.Resolver({ timeout: Math.ceil(this.timeoutMs / 2), tries: 2 });
    if (this.servers) resolver.setServers(this.servers);
    const timer = setTimeout(() => resolver.cancel(), this.timeoutMs);
    try {
      const families = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
      if (addresses.length === 0) throw failureOf(hostname, families);
      return addresses;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns a lookup's failure: an error of either query rather than an answer without addresses. */
function failureOf(hostname: string, families: PromiseSettledResult<string[]>[]): DnsFailure {
  const reasons = families.flatMap((family) =>
    family.status === 'rejected' ? [family.reason as unknown] : [],
  );
  const reason = reasons.find((error) => codeOf(error) !== NO_ADDRESS) ?? reasons[0];
  const code = codeOf(reason);
  return new DnsFailure(code === 'ECANCELLED' ? 'ETIMEOUT' : code, hostname, reason);
}

function codeOf(reason: unknown): string {
  return (reason as NodeJS.ErrnoException | undefined)?.code ?? NO_ADDRESS;
}

class HostsFile {
  private version = '';
  private entries: ReadonlyMap<string, string[]> = new Map();

  constructor(private readonly path: string) {}

  async addressesOf(hostname: string): Promise<string[]> {
    await this.refresh();
    return this.entries.get(hostname.toLowerCase()) ?? [];
  }

  private async refresh(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.path);
      const version = `${mtimeMs}/${size}/${ino}`;
      if (version === this.version) return;
      this.entries = parseHosts(await readFile(this.path, 'utf8'));
      this.version = version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.entries = new Map();
      this.version = '';
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const entries = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!address) continue;
    for (const name of names) {
      const known = entries.get(name.toLowerCase());
      if (known) known.push(address);
      else entries.set(name.toLowerCase(), [address]);
    }
  }
  // Puts IPv4 addresses first, as they are in the answers of name servers.
  for (const addresses of entries.values())
    addresses.sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  return entries;
}
