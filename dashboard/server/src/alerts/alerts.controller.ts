import { Controller, Get, Param, Query } from '@nestjs/common';
import {
  type Actor,
  type AlertResponse,
  AlertsService,
  ListAlertsQuery,
  type Page,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';

@Controller('api/workspaces/:workspaceId/alerts')
export class AlertsController {
  constructor(private readonly alerts: AlertsService) {}

  @Get()
  list(
    @Param('workspaceId') workspaceId: string,
    @Query() query: ListAlertsQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<AlertResponse>> {
    return this.alerts.list(workspaceId, query, actor);
  }
}
