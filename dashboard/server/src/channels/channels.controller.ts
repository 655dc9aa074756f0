import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Actor,
  ChannelConnectionsService,
  type ChannelConnectionSummary,
  ConnectChannel,
  type ConnectedChannel,
  type DisconnectedChannel,
  type Page,
} from 'conversation-messaging-service';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { toList } from '../http/list';
import { RotateChannel } from './channel.dto';

/** Accounts that a person can connect or update in a minute: few, because each is checked by the provider. */
const CONNECTIONS_A_MINUTE = 20;

@Controller('api/workspaces/:workspaceId/channels')
export class ChannelsController {
  constructor(private readonly channels: ChannelConnectionsService) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ChannelConnectionSummary>> {
    return toList(await this.channels.list(workspaceId, actor));
  }

  @Post()
  @LimitedTo(CONNECTIONS_A_MINUTE, 'channels')
  connect(
    @Param('workspaceId') workspaceId: string,
    @Body() body: ConnectChannel,
    @CurrentActor() actor: Actor,
  ): Promise<ConnectedChannel> {
    return this.channels.connect(workspaceId, body, actor);
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @LimitedTo(CONNECTIONS_A_MINUTE, 'channels')
  rotate(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() { credentials }: RotateChannel,
    @CurrentActor() actor: Actor,
  ): Promise<ConnectedChannel> {
    return this.channels.rotate(workspaceId, id, credentials, actor);
  }

  @Delete(':id')
  disconnect(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<DisconnectedChannel> {
    return this.channels.disconnect(workspaceId, id, actor);
  }
}
