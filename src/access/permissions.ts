import { AGENT_ROLES, AgentRole } from '../common/agent-role';

type Holder = AgentRole | 'API_KEY';

const OWNERS: readonly Holder[] = ['OWNER'];
const MANAGERS: readonly Holder[] = ['OWNER', 'ADMIN'];
const EVERYONE: readonly Holder[] = [...AGENT_ROLES, 'API_KEY'];
/** The operator and the host, who may do everything. */
const NOBODY_ELSE: readonly Holder[] = [];

/**
 * Who may do what, besides operators and the system, who may do everything. A key's scopes are checked before, by the
 * route. Every method of a service that changes something requires its permission first, in its transaction.
 */
export const PERMISSIONS = {
  'workspace.create': NOBODY_ELSE,
  'workspace.update': MANAGERS,
  'workspace.suspend': NOBODY_ELSE,
  'workspace.resume': NOBODY_ELSE,
  'workspace.delete': OWNERS,
  'workspace.cancel_deletion': OWNERS,
  'agent.create': MANAGERS,
  'agent.update': MANAGERS,
  'agent.invite': MANAGERS,
  'agent.reset_password': MANAGERS,
  'api_key.create': MANAGERS,
  'api_key.revoke': MANAGERS,
  'webhook_endpoint.create': MANAGERS,
  'webhook_endpoint.activate': MANAGERS,
  'webhook_endpoint.deactivate': MANAGERS,
  'webhook_endpoint.delete': MANAGERS,
  'webhook_endpoint.roll_secret': MANAGERS,
  'webhook_endpoint.test': MANAGERS,
  'webhook_endpoint.recover': MANAGERS,
  'webhook_delivery.redeliver': MANAGERS,
  'channel_connection.connect': MANAGERS,
  'channel_connection.rotate': MANAGERS,
  'channel_connection.disconnect': MANAGERS,
  'contact.erase': MANAGERS,
  'contact.export': MANAGERS,
  'conversation.update': EVERYONE,
  'audit_entry.record': EVERYONE,
  'parked_event.retry': NOBODY_ELSE,
  'parked_event.give_up': NOBODY_ELSE,
  'secret.reencrypt': NOBODY_ELSE,
  'login.manage': NOBODY_ELSE,
} as const satisfies Record<string, readonly Holder[]>;

export type Permission = keyof typeof PERMISSIONS;
