import type { Reader } from '../database';
import { hasCitus } from '../citus/citus';
import { ONE_SHARD_AT_A_TIME } from '../citus/distributed-tables';
import { PARTITION_OF_DAY } from '../history/partitions';
import { Transaction } from '../transaction';

/** Database object, and the privileges on it that the service's role lacks or has in excess. */
interface Difference {
  object: string;
  privileges: string;
}

/**
 * SQL that compares the privileges of role $1 (null for the current role) with those that the service needs:
 * it lists the missing ones if $2 is true, the excess ones if $2 is false. The service needs all access to
 * rows of its tables, but only SELECT and INSERT on audit entries and SELECT on applied migrations. It must
 * not create objects. Partitions need no privilege, because statements name their tables; only the default
 * partitions are read by name. The objects are those in the schema of the table `migrations` with the same
 * owner.
 */
const OBJECTS = `
  WITH home AS (SELECT relnamespace AS schema, relowner AS owner FROM pg_class WHERE oid = to_regclass('migrations')),
  objects AS (
    SELECT 'SCHEMA' AS kind, n.oid, quote_ident(n.nspname) AS name, '{USAGE}'::text[] AS needed, '{CREATE}'::text[] AS refused
    FROM home JOIN pg_namespace n ON n.oid = home.schema
    UNION ALL
    SELECT 'TABLE', c.oid, c.oid::regclass::text,
      CASE c.relname WHEN 'audit_entries' THEN '{SELECT,INSERT}'::text[]
                     WHEN 'migrations' THEN '{SELECT}'
                     ELSE '{SELECT,INSERT,UPDATE,DELETE}' END,
      CASE c.relname WHEN 'audit_entries' THEN '{UPDATE,DELETE,TRUNCATE,TRIGGER}'::text[] ELSE '{TRUNCATE}' END
    FROM home JOIN pg_class c ON c.relnamespace = home.schema AND c.relowner = home.owner
    WHERE c.relkind IN ('r', 'p') AND c.relname !~ '${PARTITION_OF_DAY}'
    UNION ALL
    SELECT 'FUNCTION', p.oid, p.oid::regprocedure::text, '{EXECUTE}', '{}'
    FROM home JOIN pg_proc p ON p.pronamespace = home.schema AND p.proowner = home.owner
  ),
  privileges AS (
    SELECT kind, name, privilege, privilege = ANY (needed) AS needed,
      CASE kind WHEN 'SCHEMA' THEN has_schema_privilege(coalesce($1, current_user), oid, privilege)
                WHEN 'FUNCTION' THEN has_function_privilege(coalesce($1, current_user), oid, privilege)
                ELSE has_table_privilege(coalesce($1, current_user), oid, privilege) END AS held
    FROM objects CROSS JOIN LATERAL unnest(needed || refused) AS privilege
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = objects.oid AND d.deptype = 'e')
  )
  SELECT kind || ' ' || name AS object, string_agg(privilege, ', ' ORDER BY privilege) AS privileges FROM privileges
  WHERE needed = $2 AND held <> $2 GROUP BY kind, name ORDER BY kind, name`;

/** Lists the privileges that a role needs and lacks. Null means the role of the reader's connection. */
export function missingPrivileges(reader: Reader, role: string | null): Promise<Difference[]> {
  return reader.query(OBJECTS, [role, true]);
}

/** Grants a role the privileges that the service needs, and revokes privileges that it must not have. */
export async function grantPrivileges(tx: Transaction, role: string): Promise<void> {
  if (await hasCitus(tx)) await tx.query(ONE_SHARD_AT_A_TIME);
  const [quoted] = await tx.query<{ name: string }>('SELECT quote_ident($1) AS name', [role]);
  for (const { object, privileges } of await missingPrivileges(tx, role))
    await tx.query(`GRANT ${privileges} ON ${object} TO ${quoted!.name}`);
  for (const { object, privileges } of await tx.query<Difference>(OBJECTS, [role, false]))
    await tx.query(`REVOKE ${privileges} ON ${object} FROM ${quoted!.name}`);
}

/**
 * Reports whether the reader's role can change or delete audit entries, by a privilege or because it may
 * become the owner of the table. False when the table does not exist.
 */
export async function canChangeAudit(reader: Reader): Promise<boolean> {
  const [row] = await reader.query<{ can: boolean }>(
    `SELECT has_table_privilege(oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') OR has_any_column_privilege(oid, 'UPDATE')
       OR pg_has_role(relowner, 'MEMBER') AS can
     FROM pg_class WHERE oid = to_regclass('audit_entries')`,
  );
  return row?.can ?? false;
}

/**
 * Reports whether the reader's role can create objects in the schema of the tables, where statements of the
 * owner might use them. False when there are no tables.
 */
export async function canMakeObjects(reader: Reader): Promise<boolean> {
  const [row] = await reader.query<{ can: boolean }>(
    `SELECT has_schema_privilege(relnamespace, 'CREATE') AS can FROM pg_class WHERE oid = to_regclass('migrations')`,
  );
  return row?.can ?? false;
}

/** Reports whether the reader's role may change tables and partitions. True when there are no tables. */
export async function ownsTables(reader: Pick<Reader, 'query'>): Promise<boolean> {
  const [row] = await reader.query<{ owns: boolean }>(
    `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = to_regclass('events')`,
  );
  return row?.owns ?? true;
}
