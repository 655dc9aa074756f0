/**
 * SQL condition of a row of pg_stat_activity: the service runs another transaction there that has locked or
 * written a row. It holds the lock of the row's table on the server that the service is connected to,
 * wherever the row is. A number it has only on the server of the row.
 */
export const IS_WRITING = `datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
  AND pid IN (SELECT pid FROM pg_locks WHERE mode IN ('RowShareLock', 'RowExclusiveLock'))`;
