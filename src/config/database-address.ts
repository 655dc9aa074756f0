const ADDRESS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)([/?#].*)?$/;
const HOST = /^(\[[\da-f:.]+\]|[^[\]:,]+)(?::(\d{1,5}))?$/i;
/** Regular expression of libpq's parameter that asks for a host that takes writes. */
const ATTRIBUTE = /([?&])target_session_attrs=([^&]*)(&|$)/;
const READ_WRITE = 'read-write';

/** Address of PostgreSQL on one host, or on several hosts of which one is the primary. */
export interface DatabaseAddress {
  urls: string[];
  /** Whether a new connection must lead to a server that takes writes. */
  requiresPrimary: boolean;
}

/**
 * Parses `postgresql://user:password@first:5432,second:5432/name?target_session_attrs=read-write`, because
 * neither `URL` nor pg can parse an address with several hosts.
 * @throws Error whose message is the fault
 */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [, attribute] = /[?&]target_session_attrs=([^&]*)/.exec(text) ?? [];
  if (attribute !== undefined && attribute !== READ_WRITE)
    throw new Error(`target_session_attrs must be ${READ_WRITE}: the service writes`);
  const requiresPrimary = attribute === READ_WRITE;
  const plain = text.replace(ATTRIBUTE, (_, before: string, __, after: string) => (after ? before : ''));
  const [, protocol, login = '', hosts = '', rest = ''] = ADDRESS.exec(plain) ?? [];
  if (!protocol) throw new Error('must be a postgresql:// address');
  if (!hosts.includes(',')) return { urls: [plain], requiresPrimary };
  if (!requiresPrimary) throw new Error(`several hosts need target_session_attrs=${READ_WRITE}`);
  return {
    urls: hosts.split(',').map((host) => `${protocol}${login}${checked(host)}${rest}`),
    requiresPrimary,
  };
}

/** Returns the address of the same hosts and database with the name and password of another address. */
export function withRoleOf(address: string, other: string): string {
  const [, , login = ''] = ADDRESS.exec(other) ?? [];
  const [, protocol, , hosts, rest = ''] = ADDRESS.exec(address)!;
  return `${protocol}${login}${hosts}${rest}`;
}

function checked(host: string): string {
  const [, name, port] = HOST.exec(host) ?? [];
  if (!name || Number(port ?? 5432) < 1 || Number(port ?? 5432) > 65_535)
    throw new Error(`"${host}" is not a host, or a host and its port`);
  return host;
}
