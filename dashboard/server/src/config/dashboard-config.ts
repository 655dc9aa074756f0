import { plainToInstance, Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsUrl, validateSync } from 'class-validator';
import { ConfigError, type MessagingOptions } from 'conversation-messaging-service';
import { type HttpSettings, readHttpSettings } from 'conversation-messaging-service/http';
import { isLoopback } from '../http/app-host';

const DEFAULT_PORT = 3100;

const IsHttpAddress = () =>
  IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true });

/** Variables that the dashboard reads itself. The service's package reads the others. */
class Environment {
  @IsHttpAddress()
  APP_URL: string = 'http://localhost:3100';

  @IsHttpAddress()
  PUBLIC_URL: string = 'http://localhost:3000';

  @IsIn(['on', 'off'])
  DATABASE_PREPARED: string = 'on';

  @IsInt()
  @Type(() => Number)
  DATABASE_POOL_SIZE: number = 10;

  @IsOptional()
  @IsInt()
  @Type(() => Number)
  API_KEY_MAX_LIFE_DAYS?: number;
}

/** The checked configuration of the dashboard. Only this file reads the environment. */
export class DashboardConfig {
  /** Origin of the dashboard, for its pages and for its JSON. */
  readonly appOrigin: string;
  /** Whether browsers send the cookies over https only. On a developer's machine they may go over http. */
  readonly isSecure: boolean;
  /** Address at which browsers and providers reach the service; without a slash at the end. */
  readonly publicUrl: string;
  readonly http: HttpSettings;
  /** Configuration of the service's module. */
  readonly messaging: MessagingOptions;

  private constructor(values: Omit<DashboardConfig, never>) {
    Object.assign(this, values);
  }

  /**
   * Reads and checks an environment. The service's package checks its part when its module is made.
   * @throws ConfigError naming every fault
   */
  static from(environment: NodeJS.ProcessEnv = process.env): DashboardConfig {
    const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
    const env = plainToInstance(Environment, set, { exposeDefaultValues: true });
    const faults = validateSync(env).flatMap(({ constraints = {} }) => Object.values(constraints));
    const http = readHttpSettings(set, DEFAULT_PORT);
    faults.push(...http.faults);
    const app = check(faults, 'APP_URL', () => appAddressOf(env.APP_URL));
    if (faults.length > 0) throw new ConfigError(faults);
    return new DashboardConfig({
      appOrigin: app!.origin,
      isSecure: app!.protocol === 'https:',
      publicUrl: env.PUBLIC_URL.replace(/\/+$/, ''),
      http: http.settings,
      messaging: messagingOptionsOf(set, env, app!),
    });
  }
}

/**
 * Parses the dashboard's address. It must have https unless it is local: over http, anyone on the network
 * could steal the session.
 */
function appAddressOf(text: string): URL {
  const url = new URL(text);
  if (url.pathname !== '/' || url.search || url.hash)
    throw new Error('must be an origin alone, such as https://dashboard.example.com');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new Error('must begin with https, but on this machine');
  return url;
}

function messagingOptionsOf(given: NodeJS.ProcessEnv, env: Environment, appUrl: URL): MessagingOptions {
  return {
    databaseUrl: given['DATABASE_URL'] ?? '',
    redisUrl: given['REDIS_URL'] ?? '',
    secretsKeys: given['SECRETS_KEYS'] ?? '',
    webhookAllowedNetworks: listOf(given['WEBHOOK_ALLOWED_NETWORKS']),
    webhookDeniedNetworks: listOf(given['WEBHOOK_DENIED_NETWORKS']),
    webhookExtraCaFile: given['WEBHOOK_EXTRA_CA_FILE'],
    webhookDnsServers: listOf(given['WEBHOOK_DNS_SERVERS']),
    appUrl: appUrl.origin,
    smtpUrl: given['SMTP_URL'],
    mailFrom: given['MAIL_FROM'],
    publicUrl: env.PUBLIC_URL,
    // The package picks the variables that it knows.
    providerUrls: given,
    metaGraphVersion: given['META_GRAPH_VERSION'],
    apiKeyMaxLifeDays: env.API_KEY_MAX_LIFE_DAYS,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    databasePrepared: env.DATABASE_PREPARED === 'on',
  };
}

function listOf(text = ''): string[] {
  return text.split(',').filter(Boolean);
}

function check<T>(faults: string[], name: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    faults.push(`${name}: ${(error as Error).message}`);
    return undefined;
  }
}
