import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database } from '../database/database';

const TABLES = {
  Agent: 'agents',
  'API key': 'api_keys',
  'Webhook endpoint': 'webhook_endpoints',
  'Webhook recovery': 'webhook_recoveries',
  'Channel connection': 'channel_connections',
  Conversation: 'conversations',
} as const;

/** Name of a kind of thing that an operator finds by its id alone. */
export type LookedUpThing = keyof typeof TABLES;

/**
 * Reads across workspaces, which only the operator may do: the finders of other repositories take the
 * workspace first.
 */
@Injectable()
export class OperatorLookupRepository {
  constructor(private readonly database: Database) {}

  /** Returns the id of the workspace that a thing belongs to. */
  async findWorkspaceId(thing: LookedUpThing, id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const [row] = await this.database.query<{ tenantId: string }>(
      `SELECT tenant_id AS "tenantId" FROM ${TABLES[thing]} WHERE id = $1`,
      [id],
    );
    return row?.tenantId ?? null;
  }
}
