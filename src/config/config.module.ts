import { DynamicModule, Module } from '@nestjs/common';
import { Config } from './config';

@Module({})
export class ConfigModule {
  /** Provides one checked configuration to every module. */
  static forRoot(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Config, useValue: config }],
      exports: [Config],
    };
  }
}
