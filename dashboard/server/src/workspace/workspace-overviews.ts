import { Injectable } from '@nestjs/common';
import {
  type Actor,
  AgentsService,
  ApiKeysService,
  ChannelConnectionsService,
  rateLimitOf,
  RateLimitUseService,
  WebhookEndpointsService,
} from 'conversation-messaging-service';
import type { Membership } from 'conversation-messaging-service/logins';
import { toWorkspaceSummary } from '../account/session-response';
import type { WorkspaceCounts, WorkspaceOverview } from '../api';

/** Reads a workspace's settings, its use of the rate limit, and numbers of agents, keys and the like. */
@Injectable()
export class WorkspaceOverviews {
  constructor(
    private readonly agents: AgentsService,
    private readonly keys: ApiKeysService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly channels: ChannelConnectionsService,
    private readonly use: RateLimitUseService,
  ) {}

  async get(membership: Membership, actor: Actor): Promise<WorkspaceOverview> {
    const { id, messageRetentionDays } = membership.workspace;
    // Sequential, because a request should use one database connection.
    const people = await this.agents.countPeople(id, actor);
    const managed = membership.role === 'AGENT' ? null : await this.countManaged(id, actor);
    const paths = await this.use.list(id, actor);
    return {
      ...toWorkspaceSummary(membership),
      messageRetentionDays,
      rateLimit: { perMinute: rateLimitOf(membership.workspace), paths },
      counts: { agents: people, ...managed },
    };
  }

  private async countManaged(id: string, actor: Actor): Promise<Omit<WorkspaceCounts, 'agents'>> {
    const apiKeys = await this.keys.countWorking(id, actor);
    const endpoints = await this.endpoints.list(id, actor);
    const channels = await this.channels.list(id, actor);
    return {
      apiKeys,
      webhookEndpoints: endpoints.filter(({ active }) => active).length,
      channels: channels.length,
    };
  }
}
