import { Controller, Get } from '@nestjs/common';
import type { OpenedSession } from 'conversation-messaging-service/logins';
import type { DashboardSession } from '../api';
import { DashboardConfig } from '../config/dashboard-config';
import { CurrentSession } from '../http/access.decorators';
import { toSessionResponse } from './session-response';

/** Tells a page who is logged in, and in which workspaces. A page asks for this first. */
@Controller('api/session')
export class SessionController {
  constructor(private readonly config: DashboardConfig) {}

  @Get()
  get(@CurrentSession() session: OpenedSession): DashboardSession {
    return toSessionResponse(session, this.config);
  }
}
