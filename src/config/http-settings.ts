import { readSettings } from './read-settings';
import { TrustProxy } from './setting-readers';
import { HTTP_SETTINGS } from './settings';

/** Limits on what clients may take of one process. */
export interface HttpLimits {
  /** Limit of open connections. Event streams are counted apart. */
  maxConnections: number;
  /** Limit of open event streams; one workspace gets at most half of them. */
  maxStreams: number;
  /** Limit of the bytes held of request bodies that have not arrived completely, over all connections. */
  maxUnfinishedBytes: number;
  /** Time from the first byte of a request, or from the connection's start, to the end of the head. */
  headTimeoutMs: number;
  /**
   * Time from the first byte of a request to the end of its body; also how long an answer may stay unread.
   */
  bodyTimeoutMs: number;
  /** Time from an answer to the next request on the same connection. */
  idleTimeoutMs: number;
}

/** Configuration of a process that serves HTTP. */
export interface HttpSettings {
  port: number;
  host: string;
  trustProxy: TrustProxy;
  limits: HttpLimits;
  /**
   * Time in milliseconds from SIGTERM until the process takes no more requests. In this time the process
   * reports that it is not ready.
   */
  shutdownDelayMs: number;
  logLevel: string;
}

const MAX_STREAMS = 5000;

/**
 * Reads the variables that every process serving HTTP has: `PORT`, `HOST`, `HTTP_*`, `SHUTDOWN_DELAY_MS`,
 * `TRUST_PROXY` and `LOG_LEVEL`. An empty variable counts as not set.
 * @param defaultPort the port to listen on if `PORT` is not set; the service's by default
 * @returns the settings, and the faults; if there are any, the settings must not be used
 */
export function readHttpSettings(
  variables: NodeJS.ProcessEnv,
  defaultPort?: number,
): { settings: HttpSettings; faults: string[] } {
  const PORT = variables.PORT || defaultPort?.toString();
  const { values, faults } = readSettings(HTTP_SETTINGS, { ...variables, PORT });
  if (values.httpHeadTimeoutMs > values.httpBodyTimeoutMs)
    faults.push('HTTP_HEAD_TIMEOUT_MS must not be longer than HTTP_BODY_TIMEOUT_MS');
  const { port, host, trustProxy, shutdownDelayMs, logLevel } = values;
  const limits = {
    maxConnections: values.httpMaxConnections,
    maxStreams: MAX_STREAMS,
    maxUnfinishedBytes: values.httpMaxUnfinishedBytes,
    headTimeoutMs: values.httpHeadTimeoutMs,
    bodyTimeoutMs: values.httpBodyTimeoutMs,
    idleTimeoutMs: values.httpIdleTimeoutMs,
  };
  return { settings: { port, host, trustProxy, limits, shutdownDelayMs, logLevel }, faults };
}
