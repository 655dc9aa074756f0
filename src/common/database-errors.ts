import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

/** SQLSTATEs that say "not now" rather than "never": shutdown, too many connections, a timeout, a deadlock. */
const AWAY = new Set(['57P01', '57P02', '57P03', '57014', '53300', '55P03', '40P01', '40001', '25006']);
const AWAY_CLASS = '08';
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** What `pg` says, without a code, when a connection ends under a query or the pool has none in time. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const TRANSACTION_FAILED = '25P02';

/** Whether the database could not answer now, so that the same request may pass later. */
export function isDatabaseAway(error: unknown): boolean {
  if (lostItsConnection(error)) return true;
  const { code, message } = driverError(error);
  if (code !== undefined) return AWAY.has(code) || SOCKET.has(code) || code.startsWith(AWAY_CLASS);
  return MESSAGES.test(message ?? '');
}

/** What TypeORM says of a transaction whose connection ended between two of its statements: it gives the lost one back. */
function lostItsConnection(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}

/** Whether a row was refused because another one has the same value under this constraint or index. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const driver = driverError(error);
  return driver.code === UNIQUE_VIOLATION && driver.constraint === constraint;
}

/** Whether a statement failed for no fault of its own: one before it in the same transaction had. */
export function followsFromAnother(error: unknown): boolean {
  return driverError(error).code === TRANSACTION_FAILED;
}

/** Whether something was done in a workspace that there is not. */
export function isWorkspaceUnknown(error: unknown): boolean {
  const { code, constraint } = driverError(error);
  return code === FOREIGN_KEY_VIOLATION && (constraint?.endsWith('_tenant_id_fkey') ?? false);
}

function driverError(error: unknown): { code?: string; constraint?: string; message?: string } {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof cause === 'object' && cause !== null ? cause : {};
}
