import { applyDecorators } from '@nestjs/common';
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

const IsHttpAddress = () =>
  IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true });

/** The environment's variables as they are read, with their defaults. `docs/operating.md` lists them. */
export class Environment {
  @IsIn(ROLES)
  ROLE: Role = 'all';

  @IsWhole(0, 65_535)
  PORT: number = 3000;

  /** Where `/metrics` is served; nowhere, when left out. */
  @IsOptional()
  @IsWhole(0, 65_535)
  METRICS_PORT?: number;

  @IsNotEmpty()
  HOST: string = '0.0.0.0';

  @Matches(/^postgres(ql)?:\/\/.+/, { message: 'DATABASE_URL must be a postgresql:// address' })
  DATABASE_URL: string;

  @Matches(/^rediss?:\/\/.+/, { message: 'REDIS_URL must be a redis:// or rediss:// address' })
  REDIS_URL: string;

  @IsHttpAddress()
  APP_URL: string = 'http://localhost:3000';

  /** Where channel providers reach this service. */
  @IsHttpAddress()
  PUBLIC_URL: string = 'http://localhost:3000';

  @IsHttpAddress()
  TELEGRAM_API_URL: string = 'https://api.telegram.org';

  /** WhatsApp and Messenger. */
  @IsHttpAddress()
  META_GRAPH_URL: string = 'https://graph.facebook.com';

  @IsHttpAddress()
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

  @IsWhole(2, 500)
  DATABASE_POOL_SIZE: number = 20;

  @IsWhole(1, 10_000)
  WEBHOOK_CONCURRENCY: number = 1000;

  @IsWhole(1, 1000)
  WEBHOOK_ENDPOINT_CONCURRENCY: number = 10;

  @IsWhole(1, 3650)
  RETENTION_DAYS: number = 30;

  @IsString()
  NODE_ENV: string = 'development';

  @Transform(({ value }) => (value as string) || '.data')
  DATA_DIR: string = '.data';
}

/** Variables with the defaults of those that are not set, and what is wrong with them. An empty one is not set. */
export function readEnvironment(variables: NodeJS.ProcessEnv): { env: Environment; faults: string[] } {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
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
  return { env, faults };
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
