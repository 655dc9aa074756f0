import { Module } from '@nestjs/common';
import { DeliveriesController } from './deliveries.controller';
import { RecoveriesController } from './recoveries.controller';

@Module({ controllers: [DeliveriesController, RecoveriesController] })
export class DashboardDeliveriesModule {}
