import { Socket } from 'node:net';
import { constants } from 'node:os';
import { DatabasePool } from '../../src/database/database-pool';

/**
 * Makes new connections of a pool fail with an error's code, and has the open ones replaced.
 * @returns a function that lets connections succeed again
 */
export function failConnections(pool: DatabasePool, code: string): () => void {
  const options = pool.options as { stream?: () => Socket };
  options.stream = () => new FailingSocket(code);
  pool.renew();
  return () => delete options.stream;
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
