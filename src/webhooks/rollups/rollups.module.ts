import { Module } from '@nestjs/common';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { AttemptRollupsRepository } from './attempt-rollups.repository';
import { DeliveryCountsRepository } from './delivery-counts.repository';
import { EndpointStatisticsService } from './endpoint-statistics.service';

/** Counts of attempts and deliveries, for charts. */
@Module({
  imports: [EndpointsModule],
  providers: [EndpointStatisticsService, AttemptRollupsRepository, DeliveryCountsRepository],
  exports: [EndpointStatisticsService, AttemptRollupsRepository],
})
export class RollupsModule {}
