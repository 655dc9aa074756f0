import pg from 'pg';

/** Statements by name. Each connection prepares a name once. */
const STATEMENTS = {
  authenticate: `
    SELECT k.id AS key_id, k.scopes, coalesce(k.last_used_at < now() - interval '1 minute', true) AS use_is_stale,
           w.id, w.name, w.slug, w.plan_tier, w.trial_ends_at, w.rate_limit
    FROM api_keys k JOIN workspaces w ON w.id = k.tenant_id
    WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
  'mark-used': `
    UPDATE api_keys SET last_used_at = now()
    WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
  'identities-of': `
    SELECT contact_id, channel, external_id FROM contact_identities
    WHERE tenant_id = $1 AND contact_id = ANY ($2) ORDER BY created_at, channel`,
  'find-contacts': `
    WITH newest AS MATERIALIZED (
      SELECT * FROM (
        SELECT * FROM (
          SELECT * FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT (SELECT 200)
        ) AS walked ORDER BY id DESC LIMIT 200
      ) AS walked WHERE search_text LIKE (SELECT lower($4)) ORDER BY id DESC LIMIT $3
    ), step AS MATERIALIZED (
      SELECT * FROM (
        SELECT * FROM (
          SELECT * FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT (SELECT 10000)
        ) AS walked ORDER BY id DESC LIMIT 10000
      ) AS walked
      WHERE search_text LIKE (SELECT lower($4))
        AND (SELECT count(*) FROM newest) < $3 AND (SELECT count(*) FROM newest) * 50 >= $3
      ORDER BY id DESC LIMIT $3
    ), indexed AS MATERIALIZED (
      SELECT * FROM contacts
      WHERE search_grams(tenant_id, search_text, false) @> (SELECT search_grams($1, lower($5), true))
        AND (SELECT count(*) FROM newest) < $3 AND (SELECT count(*) FROM step) < $3
      LIMIT 5001
    )
    SELECT id, name, email, phone, avatar_url, verified, attributes, created_at, updated_at FROM (
      SELECT * FROM newest WHERE (SELECT count(*) FROM newest) = $3
      UNION ALL SELECT * FROM step WHERE (SELECT count(*) FROM step) = $3
      UNION ALL SELECT * FROM indexed
      WHERE tenant_id = $1 AND id < $2 AND search_text LIKE (SELECT lower($4))
    ) AS found ORDER BY id DESC LIMIT $3`,
  'find-conversation': `SELECT id FROM conversations WHERE tenant_id = $1 AND id = $2`,
  'send-message': `
    WITH sender AS (
      SELECT id FROM agents WHERE tenant_id = $1 AND active AND role IN ('OWNER', 'ADMIN') ORDER BY id LIMIT 1
    ), conversation AS (
      UPDATE conversations c
      SET last_message_id = $3, last_message_preview = $4, last_message_at = $5, updated_at = $5,
          event_sequence = event_sequence + 1
      FROM sender WHERE tenant_id = $1 AND c.id = $2
      RETURNING event_sequence AS sequence, sender.id AS sender_id
    ), message AS (
      INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                            created_at)
      SELECT $1, $2, $3, 'AGENT', sender_id, $6, 'QUEUED', $5 FROM conversation
    ), event AS (
      INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
      SELECT $1, $3, 'message.created', $7, sequence, $5 FROM conversation
    ), queued AS (
      INSERT INTO event_queue (tenant_id, event_id) SELECT $1, $3 FROM conversation
    )
    SELECT sender_id FROM conversation`,
};

type StatementName = keyof typeof STATEMENTS;

/** Pool of connections. Each connection prepares a statement once and then runs it by its name. */
export interface LimitDatabase {
  query: <Row extends object>(name: StatementName, values: unknown[]) => Promise<Row[]>;
  /**
   * Runs a statement whose text the caller has composed. Each different text stays prepared, so there must be
   * few.
   */
  queryText: <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;
  close: () => Promise<void>;
}

export function openDatabase(connectionString: string, max: number): LimitDatabase {
  const pool = new pg.Pool({ connectionString, max, pipeline: true });
  const run = async <Row extends object>(name: string, values: unknown[], text: string): Promise<Row[]> =>
    (await pool.query<Row>({ name, text, values })).rows;
  /** Names of the prepared statements of `queryText`, by text. */
  const names = new Map<string, string>();

  return {
    query: (name, values) => run(name, values, STATEMENTS[name]),

    queryText(text, values) {
      const name = names.get(text) ?? `text-${names.size}`;
      names.set(text, name);
      return run(name, values, text);
    },

    close: () => pool.end(),
  };
}
