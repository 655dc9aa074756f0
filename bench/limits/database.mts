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
  'lock-conversation': `
    SELECT source_channel, last_message_id, event_sequence FROM conversations WHERE tenant_id = $1 AND id = $2
    FOR NO KEY UPDATE`,
  'first-manager': `
    SELECT id FROM agents WHERE tenant_id = $1 AND active AND role IN ('OWNER', 'ADMIN') ORDER BY id LIMIT 1`,
  'insert-message': `
    INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                          delivery_error, created_at)
    VALUES ($1, $2, $3, 'AGENT', $4, $5, 'QUEUED', NULL, $6)`,
  'set-last-message': `
    UPDATE conversations
    SET last_message_id = $3, last_message_preview = $4, last_message_at = $5, updated_at = $5,
        event_sequence = $6
    WHERE tenant_id = $1 AND id = $2`,
  'append-event': `
    WITH event AS (
      INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
      VALUES ($1, $2, 'message.created', $3, $4, $5))
    INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)`,
};

type StatementName = keyof typeof STATEMENTS;

/**
 * Transaction on one connection. Statements that are sent in one tick of the event loop share a network
 * packet.
 */
export interface Transaction {
  query: <Row extends object>(name: StatementName, values: unknown[]) => Promise<Row[]>;
  /** Sends a statement without waiting for its result. The commit waits for it. */
  pipeline: (name: StatementName, values: unknown[]) => void;
}

/** Pool of connections. Each connection prepares a statement once and then runs it by its name. */
export interface LimitDatabase {
  query: <Row extends object>(name: StatementName, values: unknown[]) => Promise<Row[]>;
  /**
   * Runs a statement whose text the caller has composed. Each different text stays prepared, so there must be
   * few.
   */
  queryText: <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;
  transaction: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export function openDatabase(connectionString: string, max: number): LimitDatabase {
  const pool = new pg.Pool({ connectionString, max, pipeline: true });
  const run = async <Row extends object>(
    client: pg.Pool | pg.PoolClient,
    name: string,
    values: unknown[],
    text: string,
  ): Promise<Row[]> => (await client.query<Row>({ name, text, values })).rows;
  /** Names of the prepared statements of `queryText`, by text. */
  const names = new Map<string, string>();

  return {
    query: (name, values) => run(pool, name, values, STATEMENTS[name]),

    queryText(text, values) {
      const name = names.get(text) ?? `text-${names.size}`;
      names.set(text, name);
      return run(pool, name, values, text);
    },

    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const pipelined: Promise<unknown>[] = [];
        const result = await work({
          query: (name, values) => {
            shareOnePacket(client);
            return run(client, name, values, STATEMENTS[name]);
          },
          pipeline: (name, values) => {
            shareOnePacket(client);
            pipelined.push(run(client, name, values, STATEMENTS[name]));
          },
        });
        await Promise.all([...pipelined, client.query('COMMIT')]);
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },

    close: () => pool.end(),
  };
}

/**
 * Holds back a connection's output until the end of this tick of the event loop, so that all its statements
 * leave in one packet.
 */
function shareOnePacket(client: pg.PoolClient): void {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
