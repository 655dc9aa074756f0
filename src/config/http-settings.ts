import { readSettings } from './read-settings';
import { HTTP_SETTINGS, ValuesOf } from './settings';

/** Limits for the clients of one process, which the settings `HTTP_…` in `settings.ts` describe. */
export type HttpLimits = Record<
  | 'maxConnections'
  /** Limit of open event streams, of which one workspace gets at most half. */
  | 'maxStreams'
  | 'maxUnfinishedBytes'
  | 'headTimeoutMs'
  | 'bodyTimeoutMs'
  | 'idleTimeoutMs',
  number
>;

/** Configuration of a process that serves HTTP. `settings.ts` describes the fields. */
export type HttpSettings = Pick<
  ValuesOf<typeof HTTP_SETTINGS>,
  'port' | 'host' | 'trustProxy' | 'shutdownDelayMs' | 'logLevel'
> & { limits: HttpLimits };

const MAX_STREAMS = 5000;

/**
 * Reads the variables of a process that serves HTTP: `PORT`, `HOST`, `HTTP_*`, `SHUTDOWN_DELAY_MS`,
 * `TRUST_PROXY` and `LOG_LEVEL`. An empty variable counts as not set.
 * @param defaultPort port to listen on if `PORT` is not set; 3000 by default
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
