interface HostAndPort {
  host: string;
  port: number;
}

/** Parsed parts of an address of Sentinels or of a Cluster. The address of a single server is not parsed. */
interface Access {
  username?: string;
  password?: string;
  isTls: boolean;
}

/** Address of Redis: one server, a primary that Sentinels know, or a Cluster. */
export type RedisAddress =
  | { kind: 'server'; url: string }
  | (Access & {
      kind: 'sentinel';
      hosts: HostAndPort[];
      /** Name under which the Sentinels know the primary. */
      name: string;
      db: number;
      sentinelPassword?: string;
    })
  | (Access & { kind: 'cluster'; hosts: HostAndPort[] });

const FORMS =
  'redis://host:port, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port, each with rediss for TLS';
const PARTS =
  /^rediss?(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/?]+)(?<rest>.*)$/;
const DEFAULT_PORTS = { sentinel: 26_379, cluster: 6_379 };

/**
 * Parses `redis://user:password@host:port/db`, `redis+sentinel://user:password@host:port,host:port/name/db`
 * or `redis+cluster://user:password@host:port,host:port`; `rediss` means TLS. User and password are
 * percent-encoded. The Sentinels' own password is the parameter `sentinelPassword`.
 * @throws Error that names the fault, and no password
 */
export function parseRedisAddress(text: string): RedisAddress {
  const parts = PARTS.exec(text)?.groups as
    | { kind?: 'sentinel' | 'cluster'; user?: string; hosts: string; rest: string }
    | undefined;
  if (!parts) throw new Error(`is not of the form ${FORMS}`);
  if (!parts.kind) return { kind: 'server', url: text };
  const access = { ...credentialsOf(parts.user), isTls: text.startsWith('rediss') };
  const hosts = parts.hosts.split(',').map((host) => hostOf(host, DEFAULT_PORTS[parts.kind!]));
  // Parses only the path and the parameters, because `URL` can't parse several hosts.
  const { pathname, searchParams } = new URL(parts.rest || '/', 'redis://host');
  const [name, db, ...more] = pathname.split('/').slice(1);
  if (parts.kind === 'cluster') {
    if (name) throw new Error('a Cluster has no databases, so nothing may follow its hosts');
    return { ...access, kind: 'cluster', hosts };
  }
  if (!name)
    throw new Error('the name of the primary must follow the Sentinels: redis+sentinel://host:port/name');
  if (more.length > 0 || !/^\d*$/.test(db ?? ''))
    throw new Error('only a database number may follow the name');
  return {
    ...access,
    kind: 'sentinel',
    hosts,
    name: decodeURIComponent(name),
    db: Number(db ?? 0),
    sentinelPassword: searchParams.get('sentinelPassword') ?? undefined,
  };
}

function credentialsOf(user: string | undefined): Pick<Access, 'username' | 'password'> {
  if (!user) return {};
  const [username, password] = user.split(/:(.*)/s).map(decodeURIComponent);
  return { username: username || undefined, password };
}

function hostOf(text: string, defaultPort: number): HostAndPort {
  const parts = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:\s]+)(?::(?<port>\d+))?$/.exec(text)?.groups;
  const port = Number(parts?.['port'] ?? defaultPort);
  if (!parts || port < 1 || port > 65_535) throw new Error(`"${text}" is not a host with a port`);
  return { host: parts['host']!.replace(/^\[|\]$/g, ''), port };
}
