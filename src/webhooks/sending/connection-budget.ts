import { maxOpenFiles } from '../../common/open-files';
import { Config } from '../../config/config';

/** Number of files that a process has open beside its connections: code, logs, Redis, name servers. */
const RESERVE = 128;
/** Largest share of the open files that is reserved for incoming HTTP connections. */
const SHARE_OF_REQUESTS = 1 / 3;
/** Share of the connections to receivers that attempts may use at the same time. */
const SHARE_OF_ATTEMPTS = 0.45;
const SHARE_OF_KEPT = 0.5;

interface ConnectionBudget {
  attempts: number;
  /** Number of open connections above which a connection is closed after its request. */
  kept: number;
}

/** Returns how many connections to receivers the limit of open files allows beside the other files. */
export function connectionBudget(config: Config, openFiles = maxOpenFiles()): ConnectionBudget {
  const requests = config.role === 'worker' ? 0 : config.http.limits.maxConnections;
  const reserved = RESERVE + config.databasePoolSize + Math.min(requests, openFiles * SHARE_OF_REQUESTS);
  const connections = Math.max(16, openFiles - reserved);
  return { attempts: connections * SHARE_OF_ATTEMPTS, kept: connections * SHARE_OF_KEPT };
}
