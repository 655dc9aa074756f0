import { Socket } from 'node:net';
import { constants } from 'node:os';
import { DatabasePool } from '../../src/database/driver/database-pool';

/** Connections that fail, until they are mended. */
export interface FailingConnections {
  /** Number of connections that have failed. */
  readonly count: number;
  mend(): void;
}

/**
 * Makes new connections of a pool fail with an error's code, and has the open ones replaced.
 * @param times number of connections that fail
 * @param every number of new connections of which the last one fails; then no connection is used twice
 */
export function failConnections(
  pool: DatabasePool,
  code: string,
  { times = Infinity, every = 1 } = {},
): FailingConnections {
  const options = pool.options as { stream?: () => Socket; maxUses?: number };
  const { maxUses } = options;
  let [made, failed] = [0, 0];
  options.stream = () => {
    made += 1;
    if (failed === times || made % every !== 0) return new Socket();
    failed += 1;
    return new FailingSocket(code);
  };
  if (every > 1) options.maxUses = 1;
  pool.renew();
  return {
    get count() {
      return failed;
    },
    mend: () => {
      delete options.stream;
      options.maxUses = maxUses;
    },
  };
}

/** A socket whose connecting fails, as the system or a name server fails it. */
class FailingSocket extends Socket {
  constructor(private readonly code: string) {
    super();
  }

  override connect(): this {
    process.nextTick(() => this.destroy(errorOf(this.code)));
    return this;
  }
}

/** Returns an error as Node makes it: one of the system has a number and a call, one of TLS has neither. */
function errorOf(code: string): Error {
  const error = Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });
  if (!/^E[A-Z]+(_|$)/.test(code) || code.startsWith('ERR_')) return error;
  const errno = -(constants.errno[code as keyof typeof constants.errno] ?? 3_008);
  return Object.assign(error, { errno, syscall: code.startsWith('EAI') ? 'getaddrinfo' : 'connect' });
}
