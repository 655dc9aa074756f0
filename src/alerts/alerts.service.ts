import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { Actor } from '../access/principal';
import { Page, toPage } from '../common/page';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { AlertResponse, ListAlertsQuery, toAlertResponse } from './alert.dto';
import { AlertsRepository } from './alerts.repository';

@Injectable()
export class AlertsService {
  constructor(
    private readonly database: Database,
    private readonly alerts: AlertsRepository,
  ) {}

  /**
   * Returns a page of a workspace's alerts, newest first: 50 by default, 200 at most. Resolved alerts are
   * kept for 90 days.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async list(tenantId: string, input: Partial<ListAlertsQuery>, actor: Actor): Promise<Page<AlertResponse>> {
    const query = validate(ListAlertsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'alert.read');
    const rows = await this.alerts.list(tenantId, query, query.limit + 1);
    return toPage(rows, query.limit, toAlertResponse);
  }

  /**
   * Counts a workspace's open alerts, up to 100.
   * @throws AppError FORBIDDEN
   */
  async countOpen(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'alert.read');
    return this.alerts.countOpen(tenantId);
  }
}
