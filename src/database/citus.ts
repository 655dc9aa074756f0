/** What runs a statement. */
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
