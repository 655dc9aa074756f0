import { Controller, Get } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { DashboardSession } from '../api';
import { DashboardConfig } from '../config/dashboard-config';
import { CurrentSession } from '../http/access.decorators';
import { toSessionResponse } from './session-response';

/** Returns the person who is logged in, and the person's workspaces. Every page requests this first. */
@Controller('api/session')
export class SessionController {
  constructor(private readonly config: DashboardConfig) {}

  @Get()
  get(@CurrentSession() session: OpenedSession): DashboardSession {
    return toSessionResponse(session, this.config);
  }
}
