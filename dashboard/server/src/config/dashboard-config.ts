import { ConfigError, type MessagingOptions, readMessagingOptions } from 'conversation-messaging-service';
import { type HttpSettings, readHttpSettings } from 'conversation-messaging-service/http';
import { isLoopback } from './loopback';

/** Defaults of the environment variables for which the service has no default, or a different one. */
export const DEFAULTS = { PORT: '3100', APP_URL: 'http://localhost:3100', DATABASE_POOL_SIZE: '10' };

/** Reads and checks the dashboard's configuration. Only this file reads environment variables. */
export class DashboardConfig {
  /** Origin of the dashboard's pages and of its JSON routes. */
  readonly appOrigin: string;
  /** Whether the cookies require https. False only for a dashboard on a developer's machine. */
  readonly isSecure: boolean;
  /**
   * Origin at which this server sends attachments of messages, so that a file never shares the pages' origin.
   * Null if the pages' own origin sends them.
   */
  readonly attachmentsOrigin: string | null;
  /** Address at which browsers and channels' providers reach the service, without a slash at the end. */
  readonly publicUrl: string;
  readonly http: HttpSettings;
  readonly messaging: MessagingOptions;

  private constructor(values: Omit<DashboardConfig, never>) {
    Object.assign(this, values);
  }

  /**
   * Reads the environment variables. MessagingModule checks the values in `messaging` when it is created.
   * @throws ConfigError naming every fault that was found
   */
  static from(environment: NodeJS.ProcessEnv = process.env): DashboardConfig {
    const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
    const variables = { ...DEFAULTS, ...given };
    const http = readHttpSettings(variables);
    const { options, faults } = readMessagingOptions(variables);
    faults.push(...http.faults);
    const app = check(faults, 'APP_URL', () => originOf(variables.APP_URL));
    const attachmentsOrigin = check(faults, 'ATTACHMENTS_ORIGIN', () => otherOriginOf(given, app));
    if (faults.length > 0) throw new ConfigError(faults);
    return new DashboardConfig({
      appOrigin: app!.origin,
      attachmentsOrigin: attachmentsOrigin ?? null,
      isSecure: app!.protocol === 'https:',
      publicUrl: options.publicUrl,
      http: http.settings,
      messaging: { ...options, appUrl: app!.origin },
    });
  }
}

/** Parses the origin of attachments, if there is one, which must not be that of the pages. */
function otherOriginOf({ ATTACHMENTS_ORIGIN }: NodeJS.ProcessEnv, app: URL | undefined): string | null {
  if (ATTACHMENTS_ORIGIN === undefined) return null;
  const { origin, hostname } = originOf(ATTACHMENTS_ORIGIN);
  if (hostname === app?.hostname) throw new Error('must have another host than APP_URL');
  return origin;
}

/**
 * Parses an origin. Requires https except on a loopback host, because over http anyone on the
 * network could steal the session cookie.
 */
function originOf(text: string): URL {
  const url = new URL(text);
  if (url.pathname !== '/' || url.search || url.hash)
    throw new Error('must be an origin alone, such as https://dashboard.example.com');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new Error('must begin with https, but on this machine');
  return url;
}

function check<T>(faults: string[], name: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    faults.push(`${name}: ${(error as Error).message}`);
    return undefined;
  }
}
