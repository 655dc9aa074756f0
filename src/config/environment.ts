import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUrl,
  isURL,
  Matches,
  Max,
  Min,
  validateSync,
} from 'class-validator';
import { pickProviderUrls, PROVIDER_URLS, ProviderVariable } from '../common/channel-descriptors';
import { runningServers } from './local-data';

const ROLES = ['api', 'worker', 'all'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type Role = (typeof ROLES)[number];

/** An integer, given as text. */
const IsWhole = (min: number, max: number) =>
  applyDecorators(
    Max(max),
    Min(min),
    IsInt(),
    Type(() => Number),
  );

const HTTP_ADDRESS = { require_tld: false, protocols: ['http', 'https'], require_protocol: true };
const IsHttpAddress = () => IsUrl(HTTP_ADDRESS);

/** Environment variables and their defaults, except the addresses of providers. `docs/configuration.md` lists them. */
export class Environment {
  @IsIn(ROLES)
  ROLE: Role = 'all';

  @IsWhole(0, 65_535)
  PORT: number = 3000;

  /** The port of `/metrics`; not served by default. */
  @IsOptional()
  @IsWhole(0, 65_535)
  METRICS_PORT?: number;

  @IsNotEmpty()
  HOST: string = '0.0.0.0';

  @IsWhole(10, 100_000)
  HTTP_MAX_CONNECTIONS: number = 5000;

  @IsWhole(100, 600_000)
  HTTP_HEAD_TIMEOUT_MS: number = 10_000;

  @IsWhole(100, 600_000)
  HTTP_BODY_TIMEOUT_MS: number = 30_000;

  /** Longer than load balancers keep an idle connection, so that none is closed at the moment of its next use. */
  @IsWhole(100, 3_600_000)
  HTTP_IDLE_TIMEOUT_MS: number = 75_000;

  @IsWhole(0, 60_000)
  SHUTDOWN_DELAY_MS: number = 500;

  @IsWhole(1_048_576, 17_179_869_184)
  HTTP_MAX_UNFINISHED_BYTES: number = 67_108_864;

  @IsString()
  DATABASE_URL: string;

  /** Of the tables' owner; that of DATABASE_URL if unset. */
  @IsOptional()
  @IsString()
  DATABASE_OWNER_URL?: string;

  /** The owner's, past a pooler; that of DATABASE_OWNER_URL if unset. */
  @IsOptional()
  @IsString()
  DATABASE_DIRECT_URL?: string;

  @IsIn(['on', 'off'])
  DATABASE_PREPARED: string = 'on';

  @IsString()
  REDIS_URL: string;

  @IsHttpAddress()
  APP_URL: string = 'http://localhost:3000';

  /** `smtp://` or `smtps://`; without it no mail is sent. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['smtp', 'smtps'], require_protocol: true })
  SMTP_URL?: string;

  /** An address, or a name with one: `Acme <login@example.com>`. */
  @IsOptional()
  @IsEmail({ allow_display_name: true })
  MAIL_FROM?: string;

  /** Where channel providers reach this service. */
  @IsHttpAddress()
  PUBLIC_URL: string = 'http://localhost:3000';

  @Matches(/^v\d+\.\d+$/, { message: 'META_GRAPH_VERSION must be of the form v25.0' })
  META_GRAPH_VERSION: string = 'v25.0';

  @IsOptional()
  @IsString()
  SECRETS_KEYS?: string;

  @IsString()
  WEBHOOK_ALLOWED_NETWORKS: string = '';

  @IsString()
  WEBHOOK_DENIED_NETWORKS: string = '';

  @IsOptional()
  @IsString()
  WEBHOOK_EXTRA_CA_FILE?: string;

  @IsString()
  WEBHOOK_DNS_SERVERS: string = '';

  @IsString()
  TRUST_PROXY: string = '';

  @IsIn(LOG_LEVELS)
  LOG_LEVEL: string = 'info';

  @IsWhole(2, 500)
  DATABASE_POOL_SIZE: number = 20;

  @IsOptional()
  @IsWhole(1, 10_000)
  REQUEST_CONCURRENCY?: number;

  @IsOptional()
  @IsWhole(1, 10_000)
  SEARCH_CONCURRENCY?: number;

  @IsOptional()
  @IsWhole(1, 10_000)
  HOOK_CONCURRENCY?: number;

  @IsOptional()
  @IsWhole(1, 10_000)
  WIDGET_CONCURRENCY?: number;

  @IsWhole(1, 100_000)
  WIDGET_STREAMS: number = 5000;

  @IsWhole(1, 1_000_000)
  WIDGET_NEW_VISITORS: number = 3000;

  @IsWhole(1, 1_000_000)
  WIDGET_MESSAGES: number = 1200;

  @IsWhole(1, 10_000)
  WEBHOOK_CONCURRENCY: number = 1000;

  @IsWhole(1, 1000)
  WEBHOOK_ENDPOINT_CONCURRENCY: number = 10;

  @IsIn(['true', 'false'])
  CROSS_WORKSPACE_BATCHES: string = 'true';

  @IsOptional()
  @IsWhole(1, 10_000)
  WEBHOOK_SLOW_CONCURRENCY?: number;

  @IsOptional()
  @IsWhole(1, 3650)
  API_KEY_MAX_LIFE_DAYS?: number;

  @IsWhole(1, 3650)
  RETENTION_DAYS: number = 30;

  @IsString()
  NODE_ENV: string = 'development';

  @Transform(({ value }) => (value as string) || '.data')
  DATA_DIR: string = '.data';
}

interface ReadEnvironment {
  env: Environment;
  providerUrls: Record<ProviderVariable, string>;
  faults: string[];
}

/** Reads the variables, with their defaults, and lists the faults. An empty variable is not set. */
export function readEnvironment(variables: NodeJS.ProcessEnv): ReadEnvironment {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const set = { ...embeddedDefaults(given), ...given };
  const env = plainToInstance(Environment, set, { exposeDefaultValues: true });
  const providerUrls = { ...PROVIDER_URLS, ...pickProviderUrls(set) };
  const faults = validateSync(env).flatMap(({ property, constraints = {} }) =>
    env[property as keyof Environment] === undefined
      ? [`${property} is not set`]
      : Object.values(constraints),
  );
  for (const [variable, url] of Object.entries(providerUrls))
    if (!isURL(url, HTTP_ADDRESS)) faults.push(`${variable} must be a URL address`);
  return { env, providerUrls, faults };
}

/**
 * The addresses that `npm start` and `npm run demo` save while their servers run. With another database it is another
 * service, so only the servers' own addresses are used.
 */
function embeddedDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const servers = runningServers(env.DATA_DIR ?? '.data');
  if (!servers) return {};
  const { databaseUrl, databaseOwnerUrl, redisUrl, publicUrl, appUrl, providerUrls } = servers;
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  if ((env.DATABASE_URL ?? databaseUrl) !== databaseUrl) return stores;
  return {
    ...stores,
    ...(env.ROLE !== 'api' && { DATABASE_OWNER_URL: databaseOwnerUrl }),
    ...(publicUrl && { PUBLIC_URL: publicUrl }),
    ...(appUrl && { APP_URL: appUrl }),
    ...providerUrls,
  };
}
