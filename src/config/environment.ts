import { plainToInstance, Transform } from 'class-transformer';
import { IsEmail, IsIn, IsOptional, IsString, IsUrl, isURL, Matches, validateSync } from 'class-validator';
import { pickProviderUrls, PROVIDER_URLS, ProviderVariable } from '../common/channel-descriptors';
import { runningServers } from './local-data';
import { HTTP_ADDRESS, IsHttpAddress, IsWhole } from './setting-validators';

const ROLES = ['api', 'worker', 'all'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The service's own environment variables and their defaults. The addresses of providers and the variables of
 * `http-settings.ts` are read elsewhere. `docs/reference/configuration.md` lists all.
 */
export class Environment {
  @IsIn(ROLES)
  ROLE: Role = 'all';

  /** Port of `/metrics`; not served by default. */
  @IsOptional()
  @IsWhole(0, 65_535)
  METRICS_PORT?: number;

  @IsString()
  DATABASE_URL: string;

  /** Address of the database for the owner of the tables; by default that of DATABASE_URL. */
  @IsOptional()
  @IsString()
  DATABASE_OWNER_URL?: string;

  /** Address of the database for the owner, past a pooler; by default that of DATABASE_OWNER_URL. */
  @IsOptional()
  @IsString()
  DATABASE_DIRECT_URL?: string;

  @IsIn(['on', 'off'])
  DATABASE_PREPARED: string = 'on';

  @IsString()
  REDIS_URL: string;

  @IsHttpAddress()
  APP_URL: string = 'http://localhost:3000';

  /** Address of the mail server, `smtp://` or `smtps://`; without it no mail is sent. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['smtp', 'smtps'], require_protocol: true })
  SMTP_URL?: string;

  /** Sender of mails: an address, or a name with an address such as `Acme <login@example.com>`. */
  @IsOptional()
  @IsEmail({ allow_display_name: true })
  MAIL_FROM?: string;

  /** Address at which channel providers reach this service. */
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

  @IsWhole(1, 1_000_000_000)
  WORKSPACE_QUOTA_CONTACTS: number = 1_000_000;

  @IsWhole(1, 1_000_000_000)
  WORKSPACE_QUOTA_MESSAGES: number = 10_000_000;

  @IsWhole(1, 1_000_000)
  WORKSPACE_QUOTA_MEBIBYTES: number = 20_480;

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

/** Reads the variables, with their defaults, and lists the faults. An empty variable counts as not set. */
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
 * Returns the addresses that `npm start` and `npm run demo` save while their servers run. If DATABASE_URL
 * names another database, which belongs to another service, they are the stores' addresses alone.
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
