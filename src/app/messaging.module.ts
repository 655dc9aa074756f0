import { DynamicModule, FactoryProvider, Module, ModuleMetadata } from '@nestjs/common';
import { pickProviderUrls, ProviderVariable } from '../common/channel-descriptors';
import { Config } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { readSettings } from '../config/read-settings';
import { SHARED_SETTINGS } from '../config/settings';
import { DatabaseModule } from '../database/setup/database.module';
import { HttpModule } from '../http/http.module';
import { MetricsModule } from '../metrics/metrics.module';
import { SERVICES } from './features';
import { RedisModule } from '../redis/redis.module';
import { StoredDataModule } from '../database/tables/stored-data.module';

/** Configuration of the host. Each value must equal that of the service's own processes. */
export interface MessagingOptions {
  /**
   * Address of the service's migrated database, `postgresql://…`, of one host or several. The host's own data
   * source stays untouched.
   */
  databaseUrl: string;
  /**
   * The service's `REDIS_URL`, over which the workers are woken up. While Redis is down everything works,
   * only later.
   */
  redisUrl: string;
  /** The service's `SECRETS_KEYS`: `id:base64` pairs of 32 bytes. The first key encrypts, all decrypt. */
  secretsKeys: string;
  /** CIDR networks in which webhook receivers are allowed although they are not public; none by default. */
  webhookAllowedNetworks?: string[];
  /** CIDR networks in which webhook receivers are refused, even public or allowed ones; none by default. */
  webhookDeniedNetworks?: string[];
  /** Path of a PEM file with certificates that the Test action trusts in addition to the system's. */
  webhookExtraCaFile?: string;
  /** Name servers for webhook receivers, `address` or `address:port`; the system's by default. */
  webhookDnsServers?: string[];
  /** Address of the dashboard, for links in invitations; `http://localhost:3000` by default. */
  appUrl?: string;
  /**
   * Address of the mail server, `smtp://` or `smtps://`, with user and password if needed. Without it links
   * are shown instead of mailed.
   */
  smtpUrl?: string;
  /** Sender of mails, such as `Acme <login@example.com>`. */
  mailFrom?: string;
  /** Address at which channel providers reach the service; `http://localhost:3000` by default. */
  publicUrl?: string;
  /** Other addresses of the channel providers' APIs, by environment variable, such as `TELEGRAM_API_URL`. */
  providerUrls?: Partial<Record<ProviderVariable, string>>;
  /** Version of Meta's Graph API. */
  metaGraphVersion?: string;
  /** The longest life of a new API key in days, 1 to 3650; no limit by default. */
  apiKeyMaxLifeDays?: number;
  /** Connections to the database, 2 to 500; 20 by default. */
  databasePoolSize?: number;
  /**
   * Whether prepared statements have names: `false` behind a PgBouncer before 1.21 in transaction mode, which
   * knows no names; true by default.
   */
  databasePrepared?: boolean;
}

/** Options made from other providers. */
export interface MessagingAsyncOptions {
  imports?: ModuleMetadata['imports'];
  inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever `inject` names
  useFactory: (...injected: any[]) => MessagingOptions | Promise<MessagingOptions>;
}

/**
 * The service inside another Nest application, such as a dashboard's backend: workspaces, agents, keys,
 * endpoints, channels, contacts, conversations and messages as injectable services.
 *
 * It adds no route, guard or filter to its host, and runs no queue and no relay: the service's workers relay
 * and deliver the host's events. Its connections close with the host's `app.close()`.
 */
@Module({})
export class MessagingModule {
  /**
   * Makes the module from options.
   * @throws ConfigError naming every invalid option
   */
  static forRoot(options: MessagingOptions): DynamicModule {
    return MessagingModule.forConfig(ConfigModule.forRoot(configOf(options)));
  }

  /** Makes the module from options of other providers. On a ConfigError the host fails to start. */
  static forRootAsync({ imports, inject, useFactory }: MessagingAsyncOptions): DynamicModule {
    return MessagingModule.forConfig({
      module: ConfigModule,
      global: true,
      imports,
      providers: [
        {
          provide: Config,
          inject,
          useFactory: async (...injected: unknown[]) => configOf(await useFactory(...injected)),
        },
      ],
      exports: [Config],
    });
  }

  /**
   * Makes the module over a configuration that was read already.
   * @internal
   */
  static forConfig(config: DynamicModule): DynamicModule {
    return {
      module: MessagingModule,
      imports: [
        config,
        DatabaseModule.forRoot(),
        RedisModule,
        MetricsModule,
        HttpModule,
        StoredDataModule,
        ...SERVICES,
      ],
      exports: SERVICES,
    };
  }
}

/**
 * Reads the options from the variables of the service's processes. An empty variable counts as not set.
 * @returns the options, and the faults; if there are any, the options must not be used
 */
export function readMessagingOptions(variables: NodeJS.ProcessEnv): {
  options: MessagingOptions & { publicUrl: string };
  faults: string[];
} {
  const { values, faults } = readSettings(SHARED_SETTINGS, variables);
  const options = {
    ...values,
    smtpUrl: values.smtpUrl ?? undefined,
    mailFrom: values.mailFrom ?? undefined,
    webhookExtraCaFile: values.webhookExtraCaFile ?? undefined,
    apiKeyMaxLifeDays: values.apiKeyMaxLifeDays ?? undefined,
    providerUrls: pickProviderUrls(variables),
  };
  return { options, faults };
}

/**
 * Checks the options like environment variables. It does so as in production, so that no key is generated on
 * the host's disk.
 */
function configOf(options: MessagingOptions): Config {
  const names = Object.keys(SHARED_SETTINGS) as (keyof typeof SHARED_SETTINGS)[];
  return Config.from({
    ...Object.fromEntries(names.map((name) => [SHARED_SETTINGS[name].variable, options[name]?.toString()])),
    // A host without types could pass any variable.
    ...pickProviderUrls(options.providerUrls ?? {}),
    DATABASE_PREPARED: options.databasePrepared === false ? 'off' : 'on',
    NODE_ENV: 'production',
    ROLE: 'api',
  });
}
