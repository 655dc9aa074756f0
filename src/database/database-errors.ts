import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

/** SQLSTATEs of temporary faults: shutdown, timeout, deadlock. */
const TEMPORARY = new Set(['57P01', '57P02', '57P03', '57014', '55P03', '40P01', '40001', '25006']);
/** Connection exceptions; insufficient resources, such as connections or the disk. */
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
/** Faults of `pg` without a code: a connection ended during a query, or the pool timed out. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;

/** A lock was not to be had in time, or two statements waited for each other. */
const LOCK_CONFLICTS = new Set(['55P03', '40P01']);

const STATEMENT_CANCELLED = '57014';
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const TRANSACTION_FAILED = '25P02';

/** Whether the fault is temporary, so that a retry may succeed. */
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

/** Whether PostgreSQL cancelled a statement that took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return driverError(error).code === STATEMENT_CANCELLED;
}

/** Whether a statement gave up waiting for a lock. */
export function isLockConflict(error: unknown): boolean {
  return LOCK_CONFLICTS.has(driverError(error).code ?? '');
}

/** TypeORM's errors when the connection ends between two statements of a transaction. */
function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}

/**
 * Whether the fault lies in the rows of a batch, so that the batch without them would succeed: a value that PostgreSQL
 * refuses, or an error of our own.
 */
export function isFaultOfData(error: unknown): boolean {
  if (isDatabaseAway(error)) return false;
  const { code } = driverError(error);
  return error instanceof QueryFailedError ? /^(22|23)/.test(code ?? '') : true;
}

/** Whether a row violates this unique constraint or index. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const driver = driverError(error);
  return driver.code === UNIQUE_VIOLATION && driver.constraint === constraint;
}

/** Whether a statement failed only because an earlier one of its transaction had failed. */
export function followsFromAnother(error: unknown): boolean {
  return driverError(error).code === TRANSACTION_FAILED;
}

/** Whether a row refers to one that is not there. */
export function isReferenceViolated(error: unknown): boolean {
  return driverError(error).code === FOREIGN_KEY_VIOLATION;
}

/** Whether a row refers to an unknown workspace. */
export function isWorkspaceUnknown(error: unknown): boolean {
  const { code, constraint } = driverError(error);
  return code === FOREIGN_KEY_VIOLATION && (constraint?.endsWith('_tenant_id_fkey') ?? false);
}

function driverError(error: unknown): { code?: string; constraint?: string; message?: string } {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof cause === 'object' && cause !== null ? cause : {};
}
