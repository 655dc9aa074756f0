import { Injectable } from '@nestjs/common';
import {
  AppError,
  type AttemptTotals,
  EndpointStatisticsService,
  type Page,
  WebhookEndpointsService,
} from 'conversation-messaging-service';
import type { AttemptCounts, UrlCheck, WebhookEndpointListItem, WebhookEndpointResponse } from '../api';
import { toList } from '../http/list';

/** Reads endpoints as the pages show them: with what several services know of them. */
@Injectable()
export class WebhookEndpointViews {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly statistics: EndpointStatisticsService,
  ) {}

  /** Lists endpoints, each with how its attempts of the last 24 hours went. */
  async list(workspaceId: string): Promise<Page<WebhookEndpointListItem>> {
    const endpoints = await this.endpoints.list(workspaceId);
    const ids = endpoints.map(({ id }) => id);
    const totals = await this.statistics.last24Hours(workspaceId, ids);
    return toList(endpoints.map((endpoint, n) => ({ ...endpoint, last24Hours: countsOf(totals[n]!) })));
  }

  /** Checks an address. A refusal is no error: the person may be about to type the rest of it. */
  async checkUrl(url: string): Promise<UrlCheck> {
    try {
      await this.endpoints.checkUrl(url);
      return { ok: true };
    } catch (error) {
      if (error instanceof AppError && error.code === 'INVALID_BODY')
        return { ok: false, message: error.message };
      throw error;
    }
  }

  async get(workspaceId: string, id: string): Promise<WebhookEndpointResponse> {
    const endpoint = await this.endpoints.get(workspaceId, id);
    return { ...endpoint, health: await this.statistics.health(workspaceId, id) };
  }
}

function countsOf({ succeeded, failed }: AttemptTotals): AttemptCounts {
  return { succeeded, failed };
}
