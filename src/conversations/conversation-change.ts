import { AuditEntryEntity } from '../audit/audit-entry.entity';
import { type ConversationStatus } from './conversation.entity';

export const ASSIGNED = 'conversation.assigned';
export const STATUS_ACTIONS = {
  OPEN: 'conversation.reopened',
  SNOOZED: 'conversation.snoozed',
  CLOSED: 'conversation.closed',
} as const;

const ACTIONS: readonly string[] = [ASSIGNED, ...Object.values(STATUS_ACTIONS)];

/** Change of a conversation's status, of its assigned agent, or of the time at which its snooze ends. */
export interface ConversationChange extends Pick<
  AuditEntryEntity,
  'id' | 'actorType' | 'actorId' | 'actorName' | 'createdAt'
> {
  action: typeof ASSIGNED | (typeof STATUS_ACTIONS)[ConversationStatus];
  /** Values before the change, only of the fields that changed. */
  before: ConversationValues;
  after: ConversationValues;
}

type ConversationValues =
  | { assignedAgentId: string | null }
  | { status: ConversationStatus; snoozedUntil?: string | null }
  | { snoozedUntil: string | null };

/** Reports whether an audit entry of a conversation records a change of its status, agent or snooze. */
export function isConversationChange({ action }: AuditEntryEntity): boolean {
  return ACTIONS.includes(action);
}

export function toConversationChange(entry: AuditEntryEntity): ConversationChange {
  const { id, action, actorType, actorId, actorName, before, after, createdAt } = entry;
  return { id, action, actorType, actorId, actorName, before, after, createdAt } as ConversationChange;
}
