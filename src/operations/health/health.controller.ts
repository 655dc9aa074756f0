import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../http/access.decorators';
import { HealthService, type Readiness } from './health.service';

@Controller('health')
@Public()
@ApiExcludeController()
export class HealthController {
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
