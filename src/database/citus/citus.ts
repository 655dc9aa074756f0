/** Runs statements: a database, a transaction or a data source. */
interface Reader {
  query<Row>(sql: string): Promise<Row[]>;
}

/** SQL that tells whether the database is one of a cluster of Citus. */
export const HAS_CITUS = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`;

/** Reports whether the database is one of a cluster of Citus. */
export async function hasCitus(reader: Reader): Promise<boolean> {
  const [answer] = await reader.query<{ hasCitus: boolean }>(`SELECT ${HAS_CITUS} AS "hasCitus"`);
  return answer!.hasCitus;
}

/** SQL that runs the read $1 on the coordinator and on each node, for those that answer. */
export const ON_EACH_SERVER = `
  SELECT nodeid AS server, result AS rows FROM run_command_on_all_nodes(
    format('SELECT coalesce(json_agg(found), ''[]'') FROM (%s) AS found', $1::text))
  WHERE success`;
