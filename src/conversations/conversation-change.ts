import { AuditEntryEntity } from '../audit/audit-entry.entity';
import { type ConversationStatus } from './conversation.entity';

/** Action of audit entries about another agent. */
export const ASSIGNED = 'conversation.assigned';
/** Actions of audit entries about a change to each status. */
export const STATUS_ACTIONS = {
  OPEN: 'conversation.reopened',
  SNOOZED: 'conversation.snoozed',
  CLOSED: 'conversation.closed',
} as const;

const ACTIONS: readonly string[] = [ASSIGNED, ...Object.values(STATUS_ACTIONS)];

/** A change of a conversation's status, of the end of its snooze, or of its assigned agent. */
export interface ConversationChange extends Pick<
  AuditEntryEntity,
  'id' | 'actorType' | 'actorId' | 'actorName' | 'createdAt'
> {
  action: typeof ASSIGNED | (typeof STATUS_ACTIONS)[ConversationStatus];
  /** The values that changed. */
  before: ConversationValues;
  after: ConversationValues;
}

/** The assigned agent; or the status, the end of the snooze (ISO 8601), or both. */
type ConversationValues =
  | { assignedAgentId: string | null }
  | { status: ConversationStatus; snoozedUntil?: string | null }
  | { snoozedUntil: string | null };

/** Reports whether an entry about a conversation is of a change, and not one that a host has recorded. */
export function isConversationChange({ action }: AuditEntryEntity): boolean {
  return ACTIONS.includes(action);
}

export function toConversationChange(entry: AuditEntryEntity): ConversationChange {
  const { id, action, actorType, actorId, actorName, before, after, createdAt } = entry;
  return { id, action, actorType, actorId, actorName, before, after, createdAt } as ConversationChange;
}
