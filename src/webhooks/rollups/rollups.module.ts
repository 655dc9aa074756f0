import { Module } from '@nestjs/common';
import { TableRegistry } from '../../database/tables/table-registry';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { AttemptRollupsRepository } from './attempt-rollups.repository';
import { DeliveryCountsRepository } from './delivery-counts.repository';
import { EndpointStatisticsService } from './endpoint-statistics.service';
import { ROLLUP_TABLES } from './rollup-tables';
import { WebhookDayRepository } from './webhook-day.repository';

/** Provides counts of attempts and deliveries, for charts. */
@Module({
  imports: [EndpointsModule],
  providers: [
    EndpointStatisticsService,
    AttemptRollupsRepository,
    DeliveryCountsRepository,
    WebhookDayRepository,
  ],
  exports: [EndpointStatisticsService, AttemptRollupsRepository],
})
export class RollupsModule {
  constructor(tables: TableRegistry) {
    tables.register(...ROLLUP_TABLES);
  }
}
