import { Injectable } from '@nestjs/common';
import { alertCatalog, ALERT_KINDS, AlertKind } from '../../alerts/alert-kinds';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { TRIAL_WARNING_DAYS } from '../../workspaces/plan-policy';

const KEY_WARNING_DAYS = 7;
/** Days for which a key that has ended is still found, so that its alert is resolved. */
const KEY_PAST_DAYS = 30;
const PAGE = 1_000;

export interface EndingKey {
  tenantId: string;
  id: string;
  hasEnded: boolean;
}

/** Open alert that tells of something good, and ends by itself. */
export interface OldNews {
  tenantId: string;
  id: string;
  kind: AlertKind;
  subjectId: string;
}

/** Kinds of such alerts, and the hours after which they end. */
const NEWS = ALERT_KINDS.flatMap((kind) => {
  const { endsAfterHours } = alertCatalog[kind];
  return endsAfterHours === null ? [] : [{ kind, endsAfterHours }];
});

/** Finds trials and API keys of all workspaces that end soon, and old news, a page at a time. */
@Injectable()
export class EndingThingsRepository {
  constructor(private readonly database: Database) {}

  /** Finds workspaces whose trial ends soon or has ended. */
  async *findTrials(): AsyncIterable<string> {
    for (let after: string | undefined = LOWEST_ID; after;) {
      const rows: { id: string }[] = await this.database.placement.readOnServers<{ id: string }>(
        `SELECT id FROM workspaces WHERE plan_tier = 'TRIAL' AND suspended_at IS NULL
           AND trial_ends_at < now() + interval '${TRIAL_WARNING_DAYS} days' AND id > $1
         ORDER BY id LIMIT ${PAGE}`,
        [after],
        { order: ({ id }) => [id], limit: PAGE },
      );
      for (const { id } of rows) yield id;
      after = rows.length === PAGE ? rows.at(-1)!.id : undefined;
    }
  }

  /** Finds keys that end within days, and those that ended in the last 30. */
  async *findKeys(): AsyncIterable<EndingKey> {
    for (let after: [string, string] | undefined = [LOWEST_ID, LOWEST_ID]; after;) {
      const rows: EndingKey[] = await this.database.placement.readOnServers<EndingKey>(
        `SELECT tenant_id AS "tenantId", id, expires_at <= now() AS "hasEnded" FROM api_keys
         WHERE revoked_at IS NULL AND expires_at > now() - interval '${KEY_PAST_DAYS} days'
           AND expires_at < now() + interval '${KEY_WARNING_DAYS} days' AND (tenant_id, id) > ($1, $2)
         ORDER BY tenant_id, id LIMIT ${PAGE}`,
        after,
        { order: ({ tenantId, id }) => [tenantId, id], limit: PAGE },
      );
      yield* rows;
      const last = rows.at(-1);
      after = rows.length === PAGE ? [last!.tenantId, last!.id] : undefined;
    }
  }

  /** Finds open alerts that tell of something good and are old enough to end. */
  async *findNews(): AsyncIterable<OldNews> {
    const kinds = NEWS.map(({ kind }) => kind);
    const hours = NEWS.map(({ endsAfterHours }) => endsAfterHours);
    for (let after: [string, string] | undefined = [LOWEST_ID, LOWEST_ID]; after;) {
      const rows: OldNews[] = await this.database.placement.readOnServers<OldNews>(
        `SELECT a.tenant_id AS "tenantId", a.id, a.kind, a.subject_id AS "subjectId"
         FROM alerts a JOIN unnest($3::text[], $4::integer[]) AS news (kind, hours) ON news.kind = a.kind
         WHERE a.resolved_at IS NULL AND a.opened_at < now() - news.hours * interval '1 hour'
           AND (a.tenant_id, a.id) > ($1, $2)
         ORDER BY a.tenant_id, a.id LIMIT ${PAGE}`,
        [...after, kinds, hours],
        { order: ({ tenantId, id }) => [tenantId, id], limit: PAGE },
      );
      yield* rows;
      const last = rows.at(-1);
      after = rows.length === PAGE ? [last!.tenantId, last!.id] : undefined;
    }
  }
}
