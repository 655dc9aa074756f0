import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor, agentOf } from './principal';
import { countCharacters, isStorableText } from '../common/validators';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { AgentRole, Permission, PERMISSIONS, ReadPermission } from './permissions';
import { findRole, lockRole, lockWorkingKey } from './access.repository';

const MAX_NAME = 100;

/**
 * Refuses an actor who lacks a permission in the workspace. Call it first in the transaction of a change, or
 * directly after the lock on the workspace's row. It locks the row of an agent in share mode. So no change
 * that the agent makes commits after the agent was deactivated or got another role.
 * @throws AppError NOT_FOUND: `tenantId` is no UUID; INVALID_BODY: the agent is unknown, inactive or of
 *   another workspace, or the operator has no name; FORBIDDEN: the agent's role lacks the permission, or no
 *   API key has it
 */
export async function requirePermission(
  tx: Transaction,
  tenantId: string,
  actor: Actor,
  permission: Permission,
): Promise<void> {
  if (!isId(tenantId)) throw AppError.notFound('Workspace');
  await requireHeld(actor, permission, (id) => lockRole(tx, tenantId, id));
}

/** Reports whether an actor is an API key with a permission. No lock is needed: keys have no role. */
export function isKeyWith(actor: Actor, permission: Permission): boolean {
  const holders: readonly string[] = PERMISSIONS[permission];
  return actor.type === 'api_key' && holders.includes('API_KEY');
}

/**
 * Refuses an actor who lacks the permission to read. Call it before the read. It locks nothing, and runs a
 * statement only for an agent.
 * @throws AppError INVALID_BODY, FORBIDDEN: as `requirePermission`
 */
export function requireReadPermission(
  database: Database,
  tenantId: string,
  actor: Actor,
  permission: ReadPermission,
): Promise<void> {
  return requireHeld(actor, permission, (id) => findRole(database, tenantId, id));
}

/**
 * Refuses an agent who is no OWNER. Call it after `requirePermission` before an OWNER is made or changed,
 * which an ADMIN may not do.
 * @throws AppError FORBIDDEN
 */
export async function requireOwner(tx: Transaction, tenantId: string, actor: Actor): Promise<void> {
  if (actor.type !== 'agent' || (await lockRole(tx, tenantId, actor.id)) === 'OWNER') return;
  throw AppError.because('FORBIDDEN', 'only_owner');
}

/**
 * Refuses an API key that was revoked or has expired since its request began. Call it before a change that
 * outlasts the key, such as one of a webhook endpoint. So no such change commits after the revocation.
 * @throws AppError UNAUTHENTICATED
 */
export async function requireWorkingKey(tx: Transaction, tenantId: string, actor: Actor): Promise<void> {
  if (actor.type !== 'api_key' || (await lockWorkingKey(tx, tenantId, actor.id))) return;
  throw new AppError('UNAUTHENTICATED', 'The API key was revoked or has expired.');
}

/**
 * Returns the id of an actor who is an agent.
 * @throws AppError INVALID_BODY: the actor is no agent
 */
export function requireAgent(actor: Actor): string {
  const agentId = agentOf(actor);
  if (agentId === null) throw AppError.invalidBody('actor', 'agent_unknown');
  return agentId;
}

/**
 * Refuses every actor except operators and the system. Call it before an act on several workspaces.
 * @throws AppError FORBIDDEN; INVALID_BODY: the operator has no name
 */
export function requireOperator(actor: Actor, permission: Permission): void {
  if (actor.type === 'system') return;
  if (actor.type === 'operator') return requireName(actor.name);
  throw AppError.because('FORBIDDEN', 'only_operator', { permission });
}

async function requireHeld(
  actor: Actor,
  permission: Permission,
  roleOf: (agentId: string) => Promise<AgentRole | null>,
): Promise<void> {
  if (actor.type === 'system') return;
  if (actor.type === 'operator') return requireName(actor.name);
  const holder = actor.type === 'api_key' ? 'API_KEY' : await roleOf(actor.id);
  if (holder === null) throw AppError.invalidBody('actor', 'agent_unknown');
  const holders: readonly string[] = PERMISSIONS[permission];
  if (holders.includes(holder)) return;
  if (holder === 'API_KEY') throw AppError.because('FORBIDDEN', 'key_lacks_permission', { permission });
  throw AppError.because('FORBIDDEN', 'role_lacks_permission', { role: holder, permission });
}

function requireName(name: string): void {
  const isName = isStorableText(name) && name.trim() !== '' && countCharacters(name) <= MAX_NAME;
  if (!isName) throw AppError.invalidBody('actor', 'actor_name', { max: MAX_NAME });
}
