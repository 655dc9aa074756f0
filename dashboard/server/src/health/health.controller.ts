import { Controller, Get } from '@nestjs/common';
import { HealthService, type Readiness } from 'conversation-messaging-service/http';
import { Public } from '../http/access.decorators';

@Controller('health')
@Public()
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
