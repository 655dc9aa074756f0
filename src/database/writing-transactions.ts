/**
 * SQL condition on a row of `pg_stat_activity`: true for another transaction of this service that has locked
 * or written rows. Such a transaction holds a lock on the rows' table on the server that the service is
 * connected to, even if the rows are on a node of Citus. Its transaction id exists only on the server of the
 * rows, so the condition can't use that.
 */
export const IS_WRITING = `datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
  AND pid IN (SELECT pid FROM pg_locks WHERE mode IN ('RowShareLock', 'RowExclusiveLock'))`;
