/** Roles of agents in their workspace. `PERMISSIONS` lists the actions of each role. */
export const AGENT_ROLES = ['OWNER', 'ADMIN', 'AGENT'] as const;
export type AgentRole = (typeof AGENT_ROLES)[number];

/** Features that a plan can include, or an operator can grant to a workspace beside its plan. */
export const ENTITLEMENTS = ['auditWebhookExport'] as const;
export type Entitlement = (typeof ENTITLEMENTS)[number];

export const SCOPE_DESCRIPTIONS = {
  'conversations:read': 'list and read conversations and their messages, and search messages',
  'conversations:write': 'close, reopen or reassign conversations',
  'messages:read': "read a conversation's message history",
  'messages:write': 'send a message as an agent',
  'contacts:read': 'list, search and read contacts',
  'contacts:write': 'create and change contacts, and read those',
  'agents:read': 'list and read agents',
  'conversations:create': 'open conversations with contacts',
  'webhooks:read': 'list and read webhook endpoints',
  'webhooks:write': 'create, change, test and delete webhook endpoints, for events that the key may read',
} as const;
export type Scope = keyof typeof SCOPE_DESCRIPTIONS;
export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as unknown as readonly [Scope, ...Scope[]];

type Holder = AgentRole | 'API_KEY';

const OWNERS: readonly Holder[] = ['OWNER'];
const MANAGERS: readonly Holder[] = ['OWNER', 'ADMIN'];
const AGENTS: readonly Holder[] = AGENT_ROLES;
const MANAGERS_AND_KEYS: readonly Holder[] = [...MANAGERS, 'API_KEY'];
const EVERYONE: readonly Holder[] = [...AGENT_ROLES, 'API_KEY'];
const OPERATORS_ALONE: readonly Holder[] = [];

/**
 * Roles that have each permission; `API_KEY` stands for every key, because the route checks the scopes of the
 * key. Operators and the system have all permissions. A service method that changes something checks its
 * permission first in its transaction. A method that reads checks a `.read` permission before it reads.
 */
export const PERMISSIONS = {
  'workspace.read': AGENTS,
  'agent.read': EVERYONE,
  'invitation.read': MANAGERS,
  'api_key.read': MANAGERS,
  'webhook_endpoint.read': MANAGERS_AND_KEYS,
  'webhook.read': MANAGERS,
  'channel.read': MANAGERS,
  'contact.read': EVERYONE,
  'conversation.read': EVERYONE,
  'note.read': AGENTS,
  'draft.read': AGENTS,
  'saved_reply.read': AGENTS,
  'notice_choice.read': AGENTS,
  'alert.read': MANAGERS,
  'audit.read': MANAGERS,
  'parked_event.read': MANAGERS,
  'login.read': OPERATORS_ALONE,

  'workspace.create': OPERATORS_ALONE,
  'workspace.update': MANAGERS,
  'workspace.shorten_retention': OWNERS,
  'workspace.change_plan': OPERATORS_ALONE,
  'workspace.demand_second_factor': OWNERS,
  'workspace.suspend': OPERATORS_ALONE,
  'workspace.resume': OPERATORS_ALONE,
  'workspace.delete': OWNERS,
  'workspace.cancel_deletion': OWNERS,
  'agent.create': MANAGERS,
  'agent.update': MANAGERS,
  'agent.erase': OWNERS,
  'agent.invite': MANAGERS,
  'agent.reset_password': MANAGERS,
  'api_key.create': MANAGERS,
  'api_key.revoke': MANAGERS,
  'webhook_endpoint.create': MANAGERS_AND_KEYS,
  'webhook_endpoint.update': MANAGERS_AND_KEYS,
  'webhook_endpoint.activate': MANAGERS_AND_KEYS,
  'webhook_endpoint.deactivate': MANAGERS_AND_KEYS,
  'webhook_endpoint.delete': MANAGERS_AND_KEYS,
  'webhook_endpoint.roll_secret': MANAGERS_AND_KEYS,
  'webhook_endpoint.test': MANAGERS_AND_KEYS,
  'webhook_endpoint.recover': MANAGERS,
  'webhook_delivery.redeliver': MANAGERS,
  'channel_connection.connect': MANAGERS,
  'channel_connection.rotate': MANAGERS,
  'channel_connection.disconnect': MANAGERS,
  'contact.create': EVERYONE,
  'contact.update': EVERYONE,
  'contact.erase': MANAGERS,
  'contact.export': MANAGERS,
  'conversation.create': EVERYONE,
  'conversation.update': EVERYONE,
  'message.send': EVERYONE,
  'alert_mail.choose': MANAGERS,
  'draft.save': AGENTS,
  'notice_choice.set': AGENTS,
  'saved_reply.create': MANAGERS,
  'saved_reply.update': MANAGERS,
  'saved_reply.delete': MANAGERS,
  'note.create': AGENTS,
  'note.delete': AGENTS,
  'note.delete_others': MANAGERS,
  'audit_entry.record': EVERYONE,
  'parked_event.retry': OPERATORS_ALONE,
  'parked_event.give_up': OPERATORS_ALONE,
  'secret.reencrypt': OPERATORS_ALONE,
  'login.manage': OPERATORS_ALONE,
} as const satisfies Record<string, readonly Holder[]>;

export type Permission = keyof typeof PERMISSIONS;
export type ReadPermission = Extract<Permission, `${string}.read`>;
