import { DynamicModule, Module } from '@nestjs/common';
import { DashboardConfig } from './dashboard-config';

@Module({})
export class DashboardConfigModule {
  static forRoot(config: DashboardConfig): DynamicModule {
    return {
      module: DashboardConfigModule,
      global: true,
      providers: [{ provide: DashboardConfig, useValue: config }],
      exports: [DashboardConfig],
    };
  }
}
