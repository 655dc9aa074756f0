import { Injectable } from '@nestjs/common';
import {
  type Actor,
  AppError,
  EndpointStatisticsService,
  type Page,
  WebhookEndpointsService,
  type WebhookEndpointSummary,
} from 'conversation-messaging-service';
import type { UrlCheck, WebhookEndpointListItem, WebhookEndpointResponse } from '../api';
import { toList } from '../http/list';

/** Reads webhook endpoints together with the statistics of their deliveries. */
@Injectable()
export class WebhookEndpointViews {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly statistics: EndpointStatisticsService,
  ) {}

  /**
   * Lists a workspace's endpoints with the numbers of deliveries that ended in the last 24 hours. The order
   * is: deactivated by the service, failing (the longest failure first), without any success, working,
   * deactivated by a person.
   */
  async list(workspaceId: string, actor: Actor): Promise<Page<WebhookEndpointListItem>> {
    const endpoints = (await this.endpoints.list(workspaceId, actor)).sort(byTrouble);
    const ids = endpoints.map(({ id }) => id);
    const totals = await this.statistics.countLast24Hours(workspaceId, ids, actor);
    return toList(
      endpoints.map((endpoint, n) => {
        const { succeeded, late, exhausted } = totals[n]!;
        return { ...endpoint, last24Hours: { succeeded, late, exhausted } };
      }),
    );
  }

  /** Checks a URL. Returns a fault instead of throwing it, because the person may still be typing. */
  async checkUrl(workspaceId: string, url: string, actor: Actor): Promise<UrlCheck> {
    try {
      await this.endpoints.checkUrl(workspaceId, url, actor);
      return { ok: true };
    } catch (error) {
      const fault = error instanceof AppError && error.details?.find(({ field }) => field === 'url');
      if (fault) return { ok: false, fault };
      throw error;
    }
  }

  async get(workspaceId: string, id: string, actor: Actor): Promise<WebhookEndpointResponse> {
    const endpoint = await this.endpoints.get(workspaceId, id, actor);
    return { ...endpoint, health: await this.statistics.getHealth(workspaceId, id, actor) };
  }
}

function byTrouble(one: WebhookEndpointSummary, other: WebhookEndpointSummary): number {
  return (
    rankOf(one) - rankOf(other) ||
    (one.failingSince?.getTime() ?? 0) - (other.failingSince?.getTime() ?? 0) ||
    labelOf(one).localeCompare(labelOf(other))
  );
}

function rankOf({ active, failingSince, lastSuccessAt, deactivation }: WebhookEndpointSummary): number {
  if (deactivation) return 0;
  if (!active) return 4;
  if (failingSince) return 1;
  return lastSuccessAt ? 3 : 2;
}

function labelOf({ name, url }: WebhookEndpointSummary): string {
  return name ?? url;
}
