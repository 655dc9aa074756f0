import { RedisConnection } from '../../src/redis/redis-connections';
import { keysOf, openRedis } from './redis-connections';
import { TestStores } from './test-database';

interface Searched {
  stores: TestStores;
  query<Row = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/**
 * Returns the columns that contain any of the texts, as `table.column`. Searches every column of every table,
 * of any type, so that a new table is searched too.
 */
export async function tracesIn(service: Searched, texts: string[]): Promise<string[]> {
  const columns = await service.query<{ table: string; column: string; type: string }>(
    `SELECT c.oid::regclass::text AS table, quote_ident(a.attname) AS column, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
     ORDER BY 1, 2`,
  );
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    // As text, bytes are hexadecimal.
    const patterns = texts.map((text) => (type === 'bytea' ? Buffer.from(text).toString('hex') : text));
    const rows = await service.query(
      `SELECT FROM ${table} WHERE ${column}::text LIKE ANY (SELECT '%' || t || '%' FROM unnest($1::text[]) AS t) LIMIT 1`,
      [patterns],
    );
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}

/** Returns the Redis keys that contain any of the texts in their name or value. */
export async function tracesInRedis({ stores }: Searched, texts: string[]): Promise<string[]> {
  const redis = openRedis(stores.redisUrl);
  try {
    const found: string[] = [];
    for (const key of await keysOf(redis, '*')) {
      const contents = `${key} ${await valueOf(redis, key)}`;
      if (texts.some((text) => contents.includes(text))) found.push(key);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: RedisConnection, key: string): Promise<string> {
  switch (await redis.type(key)) {
    case 'string':
      return (await redis.get(key)) ?? '';
    case 'hash':
      return JSON.stringify(await redis.hgetall(key));
    case 'list':
      return JSON.stringify(await redis.lrange(key, 0, -1));
    case 'set':
      return JSON.stringify(await redis.smembers(key));
    case 'zset':
      return JSON.stringify(await redis.zrange(key, 0, -1, 'WITHSCORES'));
    case 'stream':
      return JSON.stringify(await redis.xrange(key, '-', '+'));
    default:
      return '';
  }
}
