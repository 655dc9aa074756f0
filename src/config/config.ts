import { readFileSync } from 'node:fs';
import { ProviderVariable } from '../common/channel-descriptors';
import { readEnvironment, Role } from './environment';
import {
  databaseUrlOf,
  nameServersOf,
  networksOf,
  ownerUrlOf,
  secretsKeysOf,
  withoutSlash,
} from './environment-values';
import { HttpSettings, readHttpSettings } from './http-settings';
import { parseRedisAddress, RedisAddress } from './redis-address';
import { SecretsKey } from './secrets-keys';

const DEFAULT_PORT = 3000;
const MEBIBYTE = 1024 * 1024;

/** The checked configuration of the service. Only this folder reads the environment. */
export class Config {
  readonly role: Role;
  readonly http: HttpSettings;
  /** Port of `/metrics`; null when it is not served. */
  readonly metricsPort: number | null;
  readonly databaseUrl: string;
  /**
   * Address of the same database for the owner of the tables; null when the owner is the role of
   * `databaseUrl`.
   */
  readonly databaseOwnerUrl: string | null;
  /**
   * Address of the same database for the owner of the tables that leads past a pooler such as PgBouncer; null
   * when the other addresses reach the server directly.
   */
  readonly databaseDirectUrl: string | null;
  readonly databasePoolSize: number;
  /** Whether prepared statements have names, which PgBouncer before 1.21 does not know. */
  readonly databasePrepared: boolean;
  /**
   * Requests with an API key in flight in one process; one workspace gets half of them. By default as many as
   * connections.
   */
  readonly requestConcurrency: number;
  /**
   * Contact searches in flight in one process; one workspace gets half of them. By default a quarter of the
   * connections.
   */
  readonly searchConcurrency: number;
  /**
   * Requests of providers in flight in one process; one connection gets half of them. By default half of the
   * connections.
   */
  readonly hookConcurrency: number;
  /**
   * Requests of visitors in flight in one process; one widget gets half of them. By default half of the
   * connections.
   */
  readonly widgetConcurrency: number;
  /** New anonymous visitors a minute at one widget, over all processes. */
  readonly widgetNewVisitors: number;
  /** Messages a minute to one widget, over all processes. */
  readonly widgetMessages: number;
  readonly redis: RedisAddress;
  /** Address of the dashboard, for links to its settings pages. */
  readonly appUrl: string;
  /** Mail server and sender of mails to people who log in; null when no mails are sent. */
  readonly mail: { smtpUrl: string; from: string } | null;
  /** Address at which channel providers reach this service; without a slash at the end. */
  readonly publicUrl: string;
  /** Addresses of the channel providers' APIs, by environment variable, without a slash at the end. */
  readonly providerUrls: Record<ProviderVariable, string>;
  /** Version of the Graph API in every call to Meta. */
  readonly metaGraphVersion: string;
  readonly secretsKeys: SecretsKey[];
  /** CIDR networks in which webhook receivers are allowed although they are not public. */
  readonly webhookAllowedNetworks: string[];
  /** CIDR networks in which webhook receivers are refused, even public or allowed ones. */
  readonly webhookDeniedNetworks: string[];
  /** PEM certificates trusted for webhook receivers in addition to the system's. */
  readonly webhookExtraCa: string | undefined;
  /** Name servers for webhook receivers, `address` or `address:port`; empty for the system's. */
  readonly webhookDnsServers: string[];
  /** Deliveries in flight in one worker. */
  readonly webhookConcurrency: number;
  /** Deliveries in flight in one worker to one endpoint. */
  readonly webhookEndpointConcurrency: number;
  /**
   * Attempts in flight in one worker to endpoints that time out; each endpoint has one at a time. By default
   * a fifth of the other attempts.
   */
  readonly webhookSlowConcurrency: number;
  /**
   * Whether one statement may serve several workspaces where all are on one server. On several nodes none
   * does.
   */
  readonly crossWorkspaceBatches: boolean;
  /** The longest life of a new API key; null for no limit. */
  readonly apiKeyMaxLifeDays: number | null;
  /** Days for which events and deliveries are kept. */
  readonly retentionDays: number;
  /** Estimates above which a workspace is shown to the operator. Nothing is refused above them. */
  readonly workspaceQuotas: { contacts: number; messages: number; bytes: number };

  private constructor(values: Omit<Config, never>) {
    Object.assign(this, values);
  }

  /**
   * Reads and checks an environment.
   * @throws ConfigError naming every fault
   */
  static from(environment: NodeJS.ProcessEnv = process.env): Config {
    const { env, providerUrls, faults } = readEnvironment(environment);
    const check = <T>(name: string, read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        faults.push(`${name}: ${(error as Error).message}`);
        return undefined;
      }
    };
    const databaseUrl = check('DATABASE_URL', () => databaseUrlOf(env.DATABASE_URL));
    const databaseOwnerUrl = check('DATABASE_OWNER_URL', () => ownerUrlOf(env.DATABASE_OWNER_URL, env));
    const databaseDirectUrl = check('DATABASE_DIRECT_URL', () => ownerUrlOf(env.DATABASE_DIRECT_URL, env));
    const redis = check('REDIS_URL', () => (env.REDIS_URL ? parseRedisAddress(env.REDIS_URL) : undefined));
    const secretsKeys = check('SECRETS_KEYS', () => secretsKeysOf(env));
    const webhookAllowedNetworks = check('WEBHOOK_ALLOWED_NETWORKS', () =>
      networksOf(env.WEBHOOK_ALLOWED_NETWORKS),
    );
    const webhookDeniedNetworks = check('WEBHOOK_DENIED_NETWORKS', () =>
      networksOf(env.WEBHOOK_DENIED_NETWORKS),
    );
    const webhookExtraCa = check(
      'WEBHOOK_EXTRA_CA_FILE',
      () => env.WEBHOOK_EXTRA_CA_FILE && readFileSync(env.WEBHOOK_EXTRA_CA_FILE, 'utf8'),
    );
    const webhookDnsServers = check('WEBHOOK_DNS_SERVERS', () => nameServersOf(env.WEBHOOK_DNS_SERVERS));
    const http = readHttpSettings(environment, DEFAULT_PORT);
    faults.push(...http.faults);
    if (Boolean(env.SMTP_URL) !== Boolean(env.MAIL_FROM))
      faults.push('SMTP_URL and MAIL_FROM must be set together');
    if (faults.length > 0) throw new ConfigError(faults);
    return new Config({
      role: env.ROLE,
      http: { ...http.settings, limits: { ...http.settings.limits, maxStreams: env.WIDGET_STREAMS } },
      metricsPort: env.METRICS_PORT ?? null,
      retentionDays: env.RETENTION_DAYS,
      workspaceQuotas: {
        contacts: env.WORKSPACE_QUOTA_CONTACTS,
        messages: env.WORKSPACE_QUOTA_MESSAGES,
        bytes: env.WORKSPACE_QUOTA_MEBIBYTES * MEBIBYTE,
      },
      apiKeyMaxLifeDays: env.API_KEY_MAX_LIFE_DAYS ?? null,
      databaseUrl: databaseUrl!,
      databaseOwnerUrl: databaseOwnerUrl!,
      databaseDirectUrl: databaseDirectUrl!,
      databasePoolSize: env.DATABASE_POOL_SIZE,
      databasePrepared: env.DATABASE_PREPARED === 'on',
      requestConcurrency: env.REQUEST_CONCURRENCY ?? env.DATABASE_POOL_SIZE,
      searchConcurrency: env.SEARCH_CONCURRENCY ?? Math.ceil(env.DATABASE_POOL_SIZE / 4),
      hookConcurrency: env.HOOK_CONCURRENCY ?? Math.ceil(env.DATABASE_POOL_SIZE / 2),
      widgetConcurrency: env.WIDGET_CONCURRENCY ?? Math.ceil(env.DATABASE_POOL_SIZE / 2),
      widgetNewVisitors: env.WIDGET_NEW_VISITORS,
      widgetMessages: env.WIDGET_MESSAGES,
      redis: redis!,
      appUrl: withoutSlash(env.APP_URL),
      mail: env.SMTP_URL && env.MAIL_FROM ? { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM } : null,
      publicUrl: withoutSlash(env.PUBLIC_URL),
      providerUrls: Object.fromEntries(
        Object.entries(providerUrls).map(([variable, url]) => [variable, withoutSlash(url)]),
      ) as Record<ProviderVariable, string>,
      metaGraphVersion: env.META_GRAPH_VERSION,
      secretsKeys: secretsKeys!,
      webhookAllowedNetworks: webhookAllowedNetworks!,
      webhookDeniedNetworks: webhookDeniedNetworks!,
      webhookExtraCa: webhookExtraCa || undefined,
      webhookDnsServers: webhookDnsServers!,
      webhookConcurrency: env.WEBHOOK_CONCURRENCY,
      webhookEndpointConcurrency: env.WEBHOOK_ENDPOINT_CONCURRENCY,
      webhookSlowConcurrency: env.WEBHOOK_SLOW_CONCURRENCY ?? Math.ceil(env.WEBHOOK_CONCURRENCY / 5),
      crossWorkspaceBatches: env.CROSS_WORKSPACE_BATCHES === 'true',
    });
  }
}

export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}
