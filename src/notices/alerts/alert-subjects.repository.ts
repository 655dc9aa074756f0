import { Injectable } from '@nestjs/common';
import { AlertRow } from '../../alerts/alert.dto';
import { maskUrls } from '../../audit/masked-urls';
import { Channel, describeChannel } from '../../common/channel-descriptors';
import { Transaction } from '../../database/transaction';

/** Names of the subjects of alerts, by the subjects' ids. */
export type SubjectNames = ReadonlyMap<string, string>;

interface SubjectRow {
  id: string;
  name: string | null;
  url: string | null;
  channel: Channel | null;
}

/** Reads how managers call the subjects of alerts. */
@Injectable()
export class AlertSubjectsRepository {
  /**
   * Reads the names of the endpoints, channels and API keys that alerts are about. An endpoint without a name
   * has its URL, shortened, because who knows the URL can often write to it. Conversations and the workspace
   * have no name here.
   */
  async listNames(tx: Transaction, tenantId: string, alerts: AlertRow[]): Promise<SubjectNames> {
    const ids = alerts.map(({ subjectId }) => subjectId);
    const rows = await tx.query<SubjectRow>(
      `SELECT id, name, url, NULL AS channel FROM webhook_endpoints WHERE tenant_id = $1 AND id = ANY ($2)
       UNION ALL
       SELECT id, NULL, NULL, channel FROM channel_connections WHERE tenant_id = $1 AND id = ANY ($2)
       UNION ALL
       SELECT id, name, NULL, NULL FROM api_keys WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, ids],
    );
    return new Map(rows.map((row) => [row.id, nameOf(row)]));
  }
}

function nameOf({ name, url, channel }: SubjectRow): string {
  return channel ? describeChannel(channel).label : (name ?? maskUrls(url!));
}
