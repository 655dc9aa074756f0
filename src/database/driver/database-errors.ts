import { DatabaseError } from 'pg';
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { AppError } from '../../common/app-error';

/**
 * SQLSTATEs of failures whose reason lies outside the statement and its values. Reasons in the server or
 * connection: the classes 08, 28 (login), 3D (no such database), 53 (resources), 57 (shutdown, timeout) and
 * 58 (system), 25006 (a standby) and 42501 (privileges). Reasons in other transactions: the class 40 and
 * 55P03 (locks).
 */
const AWAY = /^(08|28|3D|40|53|57|58|25006|42501|55P03)/;
/** SQLSTATEs of `AWAY` for the locks or privileges of one statement. Other statements may succeed. */
const OF_ONE_STATEMENT = /^(40|42501|55P03)/;
/** SQLSTATEs of refused values: invalid, violating a constraint, too large, or too deeply nested. */
const OF_VALUES = /^(22|23|54)/;
/** Messages of errors without a code that `pg` throws when a connection ends or the pool times out. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;

/** Messages of a Citus coordinator that has lost a node. Their SQLSTATE says only "internal error". */
const NODE_LOST =
  /^(server closed the connection unexpectedly|could not (send|receive) data|no connection to the server|failure on connection marked as essential)/;

/** Codes of TLS errors about a certificate that has expired, has another name, or has no trusted signer. */
const CERTIFICATE = /CERT|^UNABLE_TO_/;

/** SQLSTATEs of lock conflicts: a lock was not granted in time, or there was a deadlock. */
const LOCK_CONFLICTS = new Set(['55P03', '40P01']);

const STATEMENT_CANCELLED = '57014';
export const INSUFFICIENT_PRIVILEGE = '42501';
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DIVISION_BY_ZERO = '22012';
const INTERNAL_ERROR = 'XX000';
export const TRANSACTION_FAILED = '25P02';

/**
 * Error of a connection that can't be opened or obtained, or of a transaction that can't begin: no statement
 * has run. It has the message and the code of its cause.
 */
export class DatabaseUnavailable extends Error {
  readonly code: string | undefined;

  constructor(override readonly cause: Error & { code?: string }) {
    super(cause.message);
    this.name = 'DatabaseUnavailable';
    this.code = cause.code;
  }
}

/**
 * Reports whether a statement failed for a reason outside itself: the server, the network, the operating
 * system, a login, a privilege, or another transaction's lock. The same work may succeed later, so the API
 * answers with 503.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || isConnectionLost(error)) return true;
  const fault = driverError(error);
  if (fault instanceof DatabaseError) return AWAY.test(fault.code ?? '') || isNodeLost(fault);
  const { code, message, errno, syscall } = fault;
  if (errno !== undefined || syscall !== undefined) return true;
  // A code here comes from pg or its socket, because PostgreSQL's own errors are handled above.
  return error instanceof QueryFailedError && code !== undefined ? true : MESSAGES.test(message ?? '');
}

/** Reports whether a working server refused this one statement, so that other statements may succeed. */
export function isStatementRefused(error: unknown): boolean {
  const fault = driverError(error);
  if (error instanceof DatabaseUnavailable || !(fault instanceof DatabaseError) || isNodeLost(fault))
    return false;
  const { code = '' } = fault;
  return OF_ONE_STATEMENT.test(code) || !AWAY.test(code);
}

/**
 * Returns the fault that an operator must repair before the database can be used, in words that may be shown
 * to anyone; null for a fault that may pass without an operator.
 */
export function findLastingFault(error: unknown): string | null {
  const { code = '' } = driverError(error);
  if (code.startsWith('28')) return 'refuses the role or its password';
  if (code.startsWith('3D')) return 'does not exist';
  if (code === INSUFFICIENT_PRIVILEGE) return 'refuses the role a privilege';
  return CERTIFICATE.test(code) ? 'has a certificate that is not valid' : null;
}

export function isStatementTimeout(error: unknown): boolean {
  return driverError(error).code === STATEMENT_CANCELLED;
}

/** Reports whether a statement divided by zero, as some do on purpose to fail a transaction. */
export function isDivisionByZero(error: unknown): boolean {
  return driverError(error).code === DIVISION_BY_ZERO;
}

export function isLockConflict(error: unknown): boolean {
  return LOCK_CONFLICTS.has(driverError(error).code ?? '');
}

/** Reports whether this is TypeORM's error for a connection that ended during a transaction. */
function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}

/**
 * Reports whether the fault lies in the rows of a batch, so that the batch would succeed without them:
 * PostgreSQL refused a value, or this service threw an error while the transaction was open. An error with a
 * code, unless it is an AppError, has a reason outside the rows.
 */
export function isFaultOfData(error: unknown): boolean {
  if (error instanceof AppError) return true;
  if (error instanceof QueryFailedError) return OF_VALUES.test(driverError(error).code ?? '');
  if (isDatabaseAway(error)) return false;
  return driverError(error).code === undefined;
}

/** Reports whether two errors are faults of data (`isFaultOfData`) with the same code and name. */
export function isSameFault(one: unknown, other: unknown): boolean {
  if (!isFaultOfData(one) || !isFaultOfData(other)) return false;
  const [{ code, name }, { code: otherCode, name: otherName }] = [driverError(one), driverError(other)];
  return code === otherCode && name === otherName;
}

export function violatesUnique(error: unknown, constraint: string): boolean {
  const fault = driverError(error);
  return fault.code === UNIQUE_VIOLATION && constraintOf(fault) === constraint;
}

/** Reports whether a statement failed only because an earlier statement of its transaction had failed. */
export function followsFromAnother(error: unknown): boolean {
  return driverError(error).code === TRANSACTION_FAILED;
}

export function isReferenceViolated(error: unknown): boolean {
  return driverError(error).code === FOREIGN_KEY_VIOLATION;
}

export function isWorkspaceUnknown(error: unknown): boolean {
  const fault = driverError(error);
  return fault.code === FOREIGN_KEY_VIOLATION && (constraintOf(fault)?.endsWith('_tenant_id_fkey') ?? false);
}

function isNodeLost({ code, message }: DatabaseError): boolean {
  return code === INTERNAL_ERROR && NODE_LOST.test(message);
}

interface Fault {
  name?: string;
  code?: string;
  constraint?: string;
  message?: string;
  errno?: number;
  syscall?: string;
}

/**
 * Returns the name of the violated constraint. An error of a node of Citus has the name only in its message,
 * with the number of a shard at the end, which is removed.
 */
function constraintOf({ constraint, message = '' }: Fault): string | undefined {
  const name = constraint ?? /constraint "([^"]+)"/.exec(message)?.[1];
  return name?.replace(/_\d+$/, '');
}

function driverError(error: unknown): Fault {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return typeof cause === 'object' && cause !== null ? cause : {};
}
