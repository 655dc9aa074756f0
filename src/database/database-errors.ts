import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

/** SQLSTATEs of temporary faults: shutdown, timeout, deadlock. */
const TEMPORARY = new Set(['57P01', '57P02', '57P03', '57014', '55P03', '40P01', '40001', '25006']);
/**
 * Classes of SQLSTATEs: connection exceptions, and insufficient resources such as connections or the disk.
 */
const TEMPORARY_CLASSES = ['08', '53'];
const SOCKET_FAULTS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/**
 * Messages of errors that `pg` throws without a code: a connection ended during a query, or the pool timed
 * out.
 */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;

/** SQLSTATEs of lock conflicts: a lock was not granted in time, or two statements waited for each other. */
const LOCK_CONFLICTS = new Set(['55P03', '40P01']);

const STATEMENT_CANCELLED = '57014';
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const TRANSACTION_FAILED = '25P02';

/** Reports whether the fault is temporary, so that a retry may succeed. */
export function isDatabaseAway(error: unknown): boolean {
  if (isConnectionLost(error)) return true;
  const { code, message } = driverError(error);
  if (code !== undefined)
    return (
      TEMPORARY.has(code) ||
      SOCKET_FAULTS.has(code) ||
      TEMPORARY_CLASSES.some((name) => code.startsWith(name))
    );
  return MESSAGES.test(message ?? '');
}

/** Reports whether PostgreSQL cancelled a statement that took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return driverError(error).code === STATEMENT_CANCELLED;
}

/** Reports whether a statement gave up waiting for a lock. */
export function isLockConflict(error: unknown): boolean {
  return LOCK_CONFLICTS.has(driverError(error).code ?? '');
}

/**
 * Reports whether an error is TypeORM's for a connection that ended between two statements of a transaction.
 */
function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}

/**
 * Reports whether the fault lies in the rows of a batch, so that the batch without them would succeed: a
 * value that PostgreSQL refuses, or an error that this service threw.
 */
export function isFaultOfData(error: unknown): boolean {
  if (isDatabaseAway(error)) return false;
  const { code } = driverError(error);
  return error instanceof QueryFailedError ? /^(22|23)/.test(code ?? '') : true;
}

/** Reports whether a row violates this unique constraint or index. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const driver = driverError(error);
  return driver.code === UNIQUE_VIOLATION && driver.constraint === constraint;
}

/** Reports whether a statement failed only because an earlier one of its transaction had failed. */
export function followsFromAnother(error: unknown): boolean {
  return driverError(error).code === TRANSACTION_FAILED;
}

/** Reports whether a row refers to a row that does not exist. */
export function isReferenceViolated(error: unknown): boolean {
  return driverError(error).code === FOREIGN_KEY_VIOLATION;
}

/** Reports whether a row refers to an unknown workspace. */
export function isWorkspaceUnknown(error: unknown): boolean {
  const { code, constraint } = driverError(error);
  return code === FOREIGN_KEY_VIOLATION && (constraint?.endsWith('_tenant_id_fkey') ?? false);
}

function driverError(error: unknown): { code?: string; constraint?: string; message?: string } {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof cause === 'object' && cause !== null ? cause : {};
}
