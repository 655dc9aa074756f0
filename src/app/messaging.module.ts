import { DynamicModule, FactoryProvider, Module, ModuleMetadata } from '@nestjs/common';
import { pickProviderUrls, ProviderVariable } from '../common/channel-descriptors';
import { Config } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { readSettings } from '../config/read-settings';
import { SHARED_SETTINGS, ValuesOf } from '../config/settings';
import { DatabaseModule } from '../database/setup/database.module';
import { HttpModule } from '../http/http.module';
import { MetricsModule } from '../metrics/metrics.module';
import { SERVICES } from './features';
import { RedisModule } from '../redis/redis.module';
import { StoredDataModule } from '../database/tables/stored-data.module';

type Shared = Omit<ValuesOf<typeof SHARED_SETTINGS>, RequiredOption>;
type RequiredOption = 'databaseUrl' | 'redisUrl' | 'secretsKeys';

/**
 * Options of `MessagingModule`. `docs/reference/configuration.md` describes each by its variable, such as
 * `DATABASE_URL` for `databaseUrl`. Each value must equal the value in the service's own processes.
 */
export interface MessagingOptions extends Record<RequiredOption, string>, Partial<Shared> {
  /** Addresses that replace the channel providers' own, by variable, such as `TELEGRAM_API_URL`. */
  providerUrls?: Partial<Record<ProviderVariable, string>>;
}

/** Options of `MessagingModule` that a factory makes from the Nest providers in `inject`. */
export interface MessagingAsyncOptions {
  imports?: ModuleMetadata['imports'];
  inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever `inject` names
  useFactory: (...injected: any[]) => MessagingOptions | Promise<MessagingOptions>;
}

/**
 * Provides this service to another Nest application (the host), such as a dashboard's backend: workspaces,
 * agents, keys, endpoints, channels, contacts, conversations and messages as injectable services.
 *
 * It adds no route, guard or filter to the host, and runs no queue and no relay: the service's workers relay
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

  /** Makes the module from the options that a factory returns. An invalid option throws a ConfigError. */
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
   * Makes the module from a checked configuration.
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
 * Reads the options from the environment variables of the service's processes. An empty variable counts as
 * not set.
 * @returns the options, and the faults; if there are any, the options must not be used
 */
export function readMessagingOptions(variables: NodeJS.ProcessEnv): {
  options: MessagingOptions & { publicUrl: string };
  faults: string[];
} {
  const { values, faults } = readSettings(SHARED_SETTINGS, variables);
  return { options: { ...values, providerUrls: pickProviderUrls(variables) }, faults };
}

/**
 * Checks the options as environment variables of production mode, in which no encryption key is generated.
 */
function configOf(options: MessagingOptions): Config {
  const names = Object.keys(SHARED_SETTINGS) as (keyof typeof SHARED_SETTINGS)[];
  return Config.from({
    ...Object.fromEntries(names.map((name) => [SHARED_SETTINGS[name].variable, options[name]?.toString()])),
    // Names of other variables are dropped, because a host application in JavaScript could pass any variable.
    ...pickProviderUrls(options.providerUrls ?? {}),
    DATABASE_PREPARED: options.databasePrepared === false ? 'off' : 'on',
    NODE_ENV: 'production',
    ROLE: 'api',
  });
}
