import { Injectable } from '@nestjs/common';
import { Batch, listsOf, workspaceOf, writtenOnce } from '../../database/key-list';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { isSuspended } from '../../workspaces/suspension';
import { IS_UNREAD } from './answer-notices.repository';

export const STEP_WIDGETS = 100;
const STEP_ANSWERS = 1_000;

export interface ListedWidget {
  tenantId: string;
  connectionId: string;
}

/** A conversation whose newest message is an answer that the visitor has not read. */
export interface QuietAnswer extends ListedWidget {
  conversationId: string;
  messageId: string;
}

/**
 * SQL that finds the conversations of listed widgets whose newest message has an id above $3 and up to $4, by
 * the index of conversations by activity. So messages cost nothing more.
 */
const findIn = writtenOnce((batch: Batch) => {
  const tenantId = workspaceOf('widget', '$1', batch);
  return `
    SELECT widget.tenant_id AS "tenantId", widget.connection_id AS "connectionId", c.id AS "conversationId",
      m.id AS "messageId"
    FROM unnest($1::uuid[], $2::uuid[]) AS widget (tenant_id, connection_id)
    JOIN conversations c ON c.tenant_id = ${tenantId} AND c.status = ANY ('{OPEN,SNOOZED,CLOSED}')
      AND coalesce(c.last_message_id, c.id) > $3 AND coalesce(c.last_message_id, c.id) <= $4
      AND c.source_channel = 'WIDGET' AND c.identity_external_id IS NOT NULL
    JOIN messages m ON m.tenant_id = ${tenantId} AND m.conversation_id = c.id AND m.id = c.last_message_id
      AND ${IS_UNREAD('m')}
    JOIN contacts p ON p.tenant_id = ${tenantId} AND p.id = c.contact_id
    LEFT JOIN answer_addresses a ON a.tenant_id = ${tenantId} AND a.conversation_id = c.id
    WHERE a.refused_at IS NULL AND coalesce(a.email, p.email) IS NOT NULL AND NOT ${isSuspended(tenantId)}
    ORDER BY m.id LIMIT ${STEP_ANSWERS}`;
});

@Injectable()
export class QuietAnswersRepository {
  constructor(private readonly database: Database) {}

  /** Lists up to 100 connected widgets of a database server, of workspaces with ids above `after`. */
  listWidgets(after: string, server: WorkspaceServer): Promise<ListedWidget[]> {
    return server.search<ListedWidget>(
      `SELECT tenant_id AS "tenantId", id AS "connectionId" FROM channel_connections
       WHERE channel = 'WIDGET' AND status <> 'DISCONNECTED' AND tenant_id > $1
       ORDER BY tenant_id LIMIT ${STEP_WIDGETS}`,
      [after],
      { order: ({ tenantId }) => [tenantId], limit: STEP_WIDGETS },
    );
  }

  /**
   * Finds the unread answers of widgets with ids above `from`, up to `until`, and yields them in lists of up
   * to 1,000.
   */
  async *find(widgets: ListedWidget[], from: string, until: string): AsyncGenerator<QuietAnswer[]> {
    for (const batch of this.database.batchesOf(widgets, STEP_WIDGETS)) {
      const keys = listsOf(batch, 'tenantId', 'connectionId');
      let found: QuietAnswer[];
      let after = from;
      do {
        found = await this.database.query<QuietAnswer>(findIn(this.database), [...keys, after, until]);
        yield found;
        after = found.at(-1)?.messageId ?? after;
      } while (found.length === STEP_ANSWERS);
    }
  }
}
