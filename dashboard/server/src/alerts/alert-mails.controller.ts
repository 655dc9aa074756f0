import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import {
  type Actor,
  type AlertMailChoice,
  AlertMailChoicesService,
  UpdateAlertMailChoice,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';

/** Choices that a person can make in a minute. */
const MAX_CHOICES = 60;

/** Reads and sets of which alerts the person gets mails. */
@Controller('api/workspaces/:workspaceId/alert-mails')
export class AlertMailsController {
  constructor(private readonly choices: AlertMailChoicesService) {}

  @Get()
  get(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<AlertMailChoice> {
    return this.choices.get(workspaceId, actor);
  }

  @Patch()
  @LimitedTo(MAX_CHOICES, 'alert-mails', { isOwnRow: true })
  update(
    @Param('workspaceId') workspaceId: string,
    @Body() body: UpdateAlertMailChoice,
    @CurrentActor() actor: Actor,
  ): Promise<AlertMailChoice> {
    return this.choices.update(workspaceId, body, actor);
  }
}
