import { plainToInstance } from 'class-transformer';
import { IsIn, IsNotEmpty, IsString, validateSync } from 'class-validator';
import { trustProxyOf } from './environment-values';
import { IsWhole } from './setting-validators';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Variables of every process that serves HTTP, with their defaults. `docs/reference/configuration.md` lists
 * them.
 */
class HttpEnvironment {
  @IsWhole(0, 65_535)
  PORT: number = 3000;

  @IsNotEmpty()
  HOST: string = '0.0.0.0';

  @IsWhole(10, 100_000)
  HTTP_MAX_CONNECTIONS: number = 5000;

  @IsWhole(100, 600_000)
  HTTP_HEAD_TIMEOUT_MS: number = 10_000;

  @IsWhole(100, 600_000)
  HTTP_BODY_TIMEOUT_MS: number = 30_000;

  /**
   * Milliseconds for which an idle connection stays open: longer than load balancers keep one, so that none
   * is closed at the moment of its next use.
   */
  @IsWhole(100, 3_600_000)
  HTTP_IDLE_TIMEOUT_MS: number = 75_000;

  @IsWhole(1_048_576, 17_179_869_184)
  HTTP_MAX_UNFINISHED_BYTES: number = 67_108_864;

  @IsWhole(0, 60_000)
  SHUTDOWN_DELAY_MS: number = 500;

  @IsString()
  TRUST_PROXY: string = '';

  @IsIn(LOG_LEVELS)
  LOG_LEVEL: string = 'info';
}

/** Value of Express's `trust proxy`: the proxies whose X-Forwarded-For is believed. */
export type TrustProxy = string | number | boolean;

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
 * @param defaultPort the port to listen on if `PORT` is not set
 * @returns the settings, and what is wrong with the variables; if anything is, the settings must not be used
 */
export function readHttpSettings(
  variables: NodeJS.ProcessEnv,
  defaultPort: number,
): { settings: HttpSettings; faults: string[] } {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const set = { PORT: defaultPort, ...given };
  const env = plainToInstance(HttpEnvironment, set, { exposeDefaultValues: true });
  const faults = validateSync(env).flatMap(({ constraints = {} }) => Object.values(constraints));
  if (env.HTTP_HEAD_TIMEOUT_MS > env.HTTP_BODY_TIMEOUT_MS)
    faults.push('HTTP_HEAD_TIMEOUT_MS must not be longer than HTTP_BODY_TIMEOUT_MS');
  let trustProxy: TrustProxy = false;
  try {
    trustProxy = trustProxyOf(env.TRUST_PROXY);
  } catch (error) {
    faults.push(`TRUST_PROXY: ${(error as Error).message}`);
  }
  return { settings: settingsOf(env, trustProxy), faults };
}

function settingsOf(env: HttpEnvironment, trustProxy: TrustProxy): HttpSettings {
  return {
    port: env.PORT,
    host: env.HOST,
    trustProxy,
    limits: {
      maxConnections: env.HTTP_MAX_CONNECTIONS,
      maxStreams: MAX_STREAMS,
      maxUnfinishedBytes: env.HTTP_MAX_UNFINISHED_BYTES,
      headTimeoutMs: env.HTTP_HEAD_TIMEOUT_MS,
      bodyTimeoutMs: env.HTTP_BODY_TIMEOUT_MS,
      idleTimeoutMs: env.HTTP_IDLE_TIMEOUT_MS,
    },
    shutdownDelayMs: env.SHUTDOWN_DELAY_MS,
    logLevel: env.LOG_LEVEL,
  };
}
