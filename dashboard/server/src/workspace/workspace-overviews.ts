import { Injectable } from '@nestjs/common';
import {
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

/**
 * Reads the overview of a workspace: its settings, its use of the rate limit, and numbers of agents, keys and
 * the like.
 */
@Injectable()
export class WorkspaceOverviews {
  constructor(
    private readonly agents: AgentsService,
    private readonly keys: ApiKeysService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly channels: ChannelConnectionsService,
    private readonly use: RateLimitUseService,
  ) {}

  async get(membership: Membership): Promise<WorkspaceOverview> {
    const { id, messageRetentionDays } = membership.workspace;
    const [counts, paths] = await Promise.all([this.counts(id), this.use.list(id)]);
    return {
      ...toWorkspaceSummary(membership),
      messageRetentionDays,
      rateLimit: { perMinute: rateLimitOf(membership.workspace), paths },
      counts,
    };
  }

  /** Counts the keys, endpoints and the like that are in use. */
  private async counts(id: string): Promise<WorkspaceCounts> {
    const [agents, keys, endpoints, channels] = await Promise.all([
      this.agents.list(id),
      this.keys.list(id),
      this.endpoints.list(id),
      this.channels.list(id),
    ]);
    return {
      agents: agents.filter(({ active, isBot }) => active && !isBot).length,
      apiKeys: keys.filter(({ revokedAt }) => revokedAt === null).length,
      webhookEndpoints: endpoints.filter(({ active }) => active).length,
      channels: channels.length,
    };
  }
}
