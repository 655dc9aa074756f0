import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor } from '../common/principal';
import { countCharacters, isStorableText } from '../common/validators';
import { Transaction } from '../database/transaction';
import { Permission, PERMISSIONS } from '../common/permissions';
import { lockRole } from './agent-roles.repository';

const MAX_NAME = 100;

/**
 * Refuses an actor who lacks a permission in the workspace. Call it first in the transaction of a change. It
 * locks an agent's row in share mode, so that nothing that an agent began commits after the agent's
 * deactivation or change of role was answered.
 * @throws AppError NOT_FOUND: the id is not that of a workspace; INVALID_BODY: the agent is unknown, inactive
 *   or of another workspace, or the operator has no name; FORBIDDEN: the agent's role lacks the permission,
 *   or an API key may never have it
 */
export async function requirePermission(
  tx: Transaction,
  tenantId: string,
  actor: Actor,
  permission: Permission,
): Promise<void> {
  if (!isId(tenantId)) throw AppError.notFound('Workspace');
  if (actor.type === 'system') return;
  if (actor.type === 'operator') return requireName(actor.name);
  const holder = actor.type === 'api_key' ? 'API_KEY' : await lockRole(tx, tenantId, actor.id);
  if (holder === null) throw AppError.invalidBody('actor', 'is not an active agent of this workspace');
  const holders: readonly string[] = PERMISSIONS[permission];
  if (holders.includes(holder)) return;
  const who = holder === 'API_KEY' ? 'An API key' : `An agent with the role ${holder}`;
  throw new AppError('FORBIDDEN', `${who} may not do this (${permission}).`);
}

/**
 * Refuses an agent who is not an OWNER, for a change of an OWNER: an ADMIN may neither make nor change one.
 * Call it after `requirePermission`.
 * @throws AppError FORBIDDEN
 */
export async function requireOwner(tx: Transaction, tenantId: string, actor: Actor): Promise<void> {
  if (actor.type !== 'agent' || (await lockRole(tx, tenantId, actor.id)) === 'OWNER') return;
  throw new AppError('FORBIDDEN', 'Only an OWNER may do this to an OWNER.');
}

/**
 * Refuses every actor except operators and the system, for a change that concerns several workspaces.
 * @throws AppError FORBIDDEN; INVALID_BODY: the operator has no name
 */
export function requireOperator(actor: Actor, permission: Permission): void {
  if (actor.type === 'system') return;
  if (actor.type === 'operator') return requireName(actor.name);
  throw new AppError('FORBIDDEN', `Only an operator may do this (${permission}).`);
}

function requireName(name: string): void {
  const isName = isStorableText(name) && name.trim() !== '' && countCharacters(name) <= MAX_NAME;
  if (!isName) throw AppError.invalidBody('actor', `must have a name of 1 to ${MAX_NAME} characters`);
}
