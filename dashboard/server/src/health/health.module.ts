import { Module } from '@nestjs/common';
import { HealthModule } from 'conversation-messaging-service/http';
import { HealthController } from './health.controller';

@Module({ imports: [HealthModule], controllers: [HealthController] })
export class HealthRoutesModule {}
