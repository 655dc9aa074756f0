import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  Min,
  validateSync,
} from 'class-validator';
import ipaddr from 'ipaddr.js';
import { parseSecretsKeys, SecretsKey } from '../common/secret-box';
import { keptSecretsKeys, runningServers } from './local-data';

const ROLES = ['api', 'worker', 'all'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type Role = (typeof ROLES)[number];

/** The environment's variables as they are read, with their defaults. `README.md` lists them. */
class Environment {
  @IsIn(ROLES)
  ROLE: Role = 'all';

  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(65_535)
  PORT: number = 3000;

  /** Where `/metrics` is served; nowhere, when left out. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(65_535)
  METRICS_PORT?: number;

  @IsNotEmpty()
  HOST: string = '0.0.0.0';

  @Matches(/^postgres(ql)?:\/\/.+/, { message: 'DATABASE_URL must be a postgresql:// address' })
  DATABASE_URL: string;

  @Matches(/^rediss?:\/\/.+/, { message: 'REDIS_URL must be a redis:// or rediss:// address' })
  REDIS_URL: string;

  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  APP_URL: string = 'http://localhost:3000';

  /** Where channel providers reach this service. */
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  PUBLIC_URL: string = 'http://localhost:3000';

  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  TELEGRAM_API_URL: string = 'https://api.telegram.org';

  /** WhatsApp and Messenger. */
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  META_GRAPH_URL: string = 'https://graph.facebook.com';

  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  INSTAGRAM_GRAPH_URL: string = 'https://graph.instagram.com';

  @Matches(/^v\d+\.\d+$/, { message: 'META_GRAPH_VERSION must be of the form v25.0' })
  META_GRAPH_VERSION: string = 'v25.0';

  @IsOptional()
  @IsString()
  SECRETS_KEYS?: string;

  @IsString()
  WEBHOOK_ALLOWED_NETWORKS: string = '';

  @IsOptional()
  @IsString()
  WEBHOOK_EXTRA_CA_FILE?: string;

  @IsString()
  WEBHOOK_DNS_SERVERS: string = '';

  @IsString()
  TRUST_PROXY: string = '';

  @IsIn(LOG_LEVELS)
  LOG_LEVEL: string = 'info';

  @Type(() => Number)
  @IsInt()
  @Min(2)
  @Max(500)
  DATABASE_POOL_SIZE: number = 20;

  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(10_000)
  WEBHOOK_CONCURRENCY: number = 1000;

  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1000)
  WEBHOOK_ENDPOINT_CONCURRENCY: number = 10;

  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(3650)
  RETENTION_DAYS: number = 30;

  @IsString()
  NODE_ENV: string = 'development';

  @Transform(({ value }) => (value as string) || '.data')
  DATA_DIR: string = '.data';
}

/** The service's configuration, checked. Only this folder reads the environment. */
export class Config {
  readonly role: Role;
  readonly port: number;
  readonly host: string;
  /** Where `/metrics` is served, or null for nowhere. */
  readonly metricsPort: number | null;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly redisUrl: string;
  /** Where the dashboard lives: links to its settings pages are made from it. */
  readonly appUrl: string;
  /** Where channel providers reach this service, without a slash at the end. */
  readonly publicUrl: string;
  /** The channel providers' APIs, without a slash at the end. */
  readonly telegramApiUrl: string;
  readonly metaGraphUrl: string;
  readonly instagramGraphUrl: string;
  /** The Graph API's version in every call to Meta. */
  readonly metaGraphVersion: string;
  readonly secretsKeys: SecretsKey[];
  /** CIDR networks in which webhook receivers may live although they are not public. */
  readonly webhookAllowedNetworks: string[];
  /** Certificates (PEM) trusted for webhook receivers beside the system's own. */
  readonly webhookExtraCa: string | undefined;
  /** Name servers asked for webhook receivers, `address` or `address:port`; none means the system's. */
  readonly webhookDnsServers: string[];
  /** Deliveries that one worker has under way at the same time. */
  readonly webhookConcurrency: number;
  /** How many of them may be to one endpoint. */
  readonly webhookEndpointConcurrency: number;
  /** Express's `trust proxy`: whose X-Forwarded-For is believed. */
  readonly trustProxy: string | number | boolean;
  readonly logLevel: string;
  /** How long events and what came of them are kept. */
  readonly retentionDays: number;

  private constructor(values: Omit<Config, never>) {
    Object.assign(this, values);
  }

  /**
   * Reads and checks an environment.
   * @throws ConfigError that names every fault, not just the first
   */
  static from(environment: NodeJS.ProcessEnv = process.env): Config {
    const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
    const env = plainToInstance(
      Environment,
      { ...embeddedDefaults(given), ...given },
      { exposeDefaultValues: true },
    );
    const faults = validateSync(env).flatMap(({ property, constraints = {} }) =>
      env[property as keyof Environment] === undefined
        ? [`${property} is not set`]
        : Object.values(constraints),
    );
    const check = <T>(name: string, read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        faults.push(`${name}: ${(error as Error).message}`);
        return undefined;
      }
    };
    const secretsKeys = check('SECRETS_KEYS', () => secretsKeysOf(env));
    const webhookAllowedNetworks = check('WEBHOOK_ALLOWED_NETWORKS', () =>
      networksOf(env.WEBHOOK_ALLOWED_NETWORKS),
    );
    const webhookExtraCa = check(
      'WEBHOOK_EXTRA_CA_FILE',
      () => env.WEBHOOK_EXTRA_CA_FILE && readFileSync(env.WEBHOOK_EXTRA_CA_FILE, 'utf8'),
    );
    const webhookDnsServers = check('WEBHOOK_DNS_SERVERS', () => nameServersOf(env.WEBHOOK_DNS_SERVERS));
    const trustProxy = check('TRUST_PROXY', () => trustProxyOf(env.TRUST_PROXY));
    if (faults.length > 0) throw new ConfigError(faults);
    return new Config({
      role: env.ROLE,
      port: env.PORT,
      host: env.HOST,
      metricsPort: env.METRICS_PORT ?? null,
      retentionDays: env.RETENTION_DAYS,
      databaseUrl: env.DATABASE_URL,
      databasePoolSize: env.DATABASE_POOL_SIZE,
      redisUrl: env.REDIS_URL,
      appUrl: env.APP_URL,
      publicUrl: withoutSlash(env.PUBLIC_URL),
      telegramApiUrl: withoutSlash(env.TELEGRAM_API_URL),
      metaGraphUrl: withoutSlash(env.META_GRAPH_URL),
      instagramGraphUrl: withoutSlash(env.INSTAGRAM_GRAPH_URL),
      metaGraphVersion: env.META_GRAPH_VERSION,
      secretsKeys: secretsKeys!,
      webhookAllowedNetworks: webhookAllowedNetworks!,
      webhookExtraCa: webhookExtraCa || undefined,
      webhookDnsServers: webhookDnsServers!,
      webhookConcurrency: env.WEBHOOK_CONCURRENCY,
      webhookEndpointConcurrency: env.WEBHOOK_ENDPOINT_CONCURRENCY,
      trustProxy: trustProxy!,
      logLevel: env.LOG_LEVEL,
    });
  }
}

/** Everything that is wrong with the configuration. */
export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/**
 * The addresses of the embedded servers, while they run: what `npm start` and `npm run demo` write down. Those of the
 * service on them count only for their own database: with another one, it is another service.
 */
function embeddedDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const servers = runningServers(env.DATA_DIR ?? '.data');
  if (!servers) return {};
  const { databaseUrl, redisUrl, publicUrl, telegramApiUrl, metaGraphUrl, instagramGraphUrl } = servers;
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  if ((env.DATABASE_URL ?? databaseUrl) !== databaseUrl) return stores;
  const addresses = {
    PUBLIC_URL: publicUrl,
    TELEGRAM_API_URL: telegramApiUrl,
    META_GRAPH_URL: metaGraphUrl,
    INSTAGRAM_GRAPH_URL: instagramGraphUrl,
  };
  const known = Object.entries(addresses).filter(([, address]) => address !== undefined);
  return { ...stores, ...Object.fromEntries(known) };
}

function secretsKeysOf(env: Environment): SecretsKey[] {
  if (env.SECRETS_KEYS) return parseSecretsKeys(env.SECRETS_KEYS);
  if (env.NODE_ENV === 'production')
    throw new Error('must be set in production: id:base64 pairs, 32 bytes each');
  return parseSecretsKeys(keptSecretsKeys(env.DATA_DIR));
}

function networksOf(text: string): string[] {
  const networks = listOf(text);
  for (const network of networks) if (!isCidr(network)) throw new Error(`"${network}" is not a CIDR network`);
  return networks;
}

function nameServersOf(text: string): string[] {
  const servers = listOf(text);
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error(`"${text}" is not a list of addresses, each with or without a port`);
  }
  return servers;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function isCidr(network: string): boolean {
  return ipaddr.isValidCIDR(network);
}

/** Express's names for networks. */
const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal'];

/** `true`, `false`, a number of hops, or addresses and networks, as Express takes them. */
function trustProxyOf(text: string): string | number | boolean {
  if (text === '' || text === 'false') return false;
  if (text === 'true') return true;
  if (/^\d+$/.test(text)) return Number(text);
  for (const proxy of text.split(',').map((part) => part.trim())) {
    if (!PROXY_GROUPS.includes(proxy) && !ipaddr.isValid(proxy) && !isCidr(proxy))
      throw new Error(`"${proxy}" is not an address or a network, nor one of ${PROXY_GROUPS.join(', ')}`);
  }
  return text;
}
