import { maxOpenFiles } from '../../common/open-files';
import { Config } from '../../config/config';

/** Files that a process has open beside its connections: code, logs, Redis, name servers. */
const RESERVE = 128;
/** Share of the files that the requests to a process may have open. */
const SHARE_OF_REQUESTS = 1 / 3;
/** Shares of the connections to receivers that attempts use at once, and that are kept for later attempts. */
const SHARE_OF_ATTEMPTS = 0.45;
const SHARE_OF_KEPT = 0.5;

/** Numbers of connections to receivers that a process may have, below its limit of open files. */
interface ConnectionBudget {
  /** Attempts at once. */
  attempts: number;
  /** Open connections from which on no further one is kept after its request. */
  kept: number;
}

/** Returns the connections that the limit of open files leaves beside the database and incoming requests. */
export function connectionBudget(config: Config, openFiles = maxOpenFiles()): ConnectionBudget {
  const requests = config.role === 'worker' ? 0 : config.http.limits.maxConnections;
  const reserved = RESERVE + config.databasePoolSize + Math.min(requests, openFiles * SHARE_OF_REQUESTS);
  const connections = Math.max(16, openFiles - reserved);
  return { attempts: connections * SHARE_OF_ATTEMPTS, kept: connections * SHARE_OF_KEPT };
}
