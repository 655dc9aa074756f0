interface Reader {
  query<Row>(sql: string): Promise<Row[]>;
}

export const HAS_CITUS = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`;

export async function hasCitus(reader: Reader): Promise<boolean> {
  const [answer] = await reader.query<{ hasCitus: boolean }>(`SELECT ${HAS_CITUS} AS "hasCitus"`);
  return answer!.hasCitus;
}

/**
 * SQL that runs the SELECT in $1 on all servers of Citus. It returns rows as JSON, from each server that
 * answers.
 */
export const ON_EACH_SERVER = `
  SELECT nodeid AS server, result AS rows FROM run_command_on_all_nodes(
    format('SELECT coalesce(json_agg(found), ''[]'') FROM (%s) AS found', $1::text))
  WHERE success`;
