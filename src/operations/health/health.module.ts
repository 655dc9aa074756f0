import { Controller, Get, Module } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../http/access.decorators';
import { DatabaseCheck } from './database-check';
import { HealthService, type Readiness } from './health.service';

@Controller('health')
@Public()
@ApiExcludeController()
class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('live')
  live(): { status: 'up' } {
    return { status: 'up' };
  }

  @Get('ready')
  ready(): Promise<Readiness> {
    return this.health.ready();
  }
}

@Module({ controllers: [HealthController], providers: [HealthService, DatabaseCheck] })
export class HealthApiModule {}
