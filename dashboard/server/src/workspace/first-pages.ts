import { Injectable } from '@nestjs/common';
import {
  type Actor,
  ChannelConnectionsService,
  ConversationsService,
  EndpointStatisticsService,
  MessagesService,
  WebhookEndpointsService,
} from 'conversation-messaging-service';
import type { Membership } from 'conversation-messaging-service/logins';
import type { FirstPage, ManagedFirstPage } from '../api';

/** Reads the figures of the dashboard's first page. */
@Injectable()
export class FirstPages {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly messages: MessagesService,
    private readonly channels: ChannelConnectionsService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly statistics: EndpointStatisticsService,
  ) {}

  async get({ workspace: { id }, role }: Membership, actor: Actor): Promise<FirstPage> {
    // Sequential, because a request should use one database connection.
    const openConversations = await this.conversations.count(id, { status: 'OPEN' }, actor);
    const waiting = await this.conversations.countWaiting(id, actor);
    const waitingMessages = await this.messages.countWaiting(id, actor);
    const lostReplies = await this.conversations.countLost(id, actor);
    const newest = await this.conversations.list(id, { limit: 1 }, actor);
    const managed = role === 'AGENT' ? null : await this.getManaged(id, actor);
    const hasConversation = newest.data.length > 0;
    return { openConversations, waiting, waitingMessages, lostReplies, hasConversation, managed };
  }

  private async getManaged(id: string, actor: Actor): Promise<ManagedFirstPage> {
    const channels = await this.channels.list(id, actor);
    const endpoints = await this.endpoints.list(id, actor);
    const webhooks = await this.statistics.getDay(id, actor);
    return {
      channels: channels.map(({ channel, status, lastReceivedAt }) => ({ channel, status, lastReceivedAt })),
      endpoints: endpoints.map(({ id, name, url, active, failingSince, lastSuccessAt, deactivation }) => ({
        id,
        name,
        url,
        active,
        failingSince,
        lastSuccessAt,
        deactivation,
      })),
      webhooks,
    };
  }
}
