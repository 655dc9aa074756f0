import { Transaction } from '../transaction';

/** Reason why a table needs no rule for an action, such as an export. */
export interface NotNeeded {
  none: string;
}

export interface ContactKey {
  tenantId: string;
  contactId: string;
}

export interface AgentKey {
  tenantId: string;
  agentId: string;
}

export interface ConversationKey {
  tenantId: string;
  conversationId: string;
}

export interface ErasedMessages extends ConversationKey {
  /** Ids of the messages, ascending. Empty if only other data is left to erase. */
  ids: string[];
  /**
   * Ids of the events about these messages, about changes of their conversation or its contact, and about
   * audit entries on that conversation or contact.
   */
  eventIds: string[];
  /** Whether the contact is erased as well. False if only messages are, as after their retention period. */
  withContact: boolean;
  /** Texts of a message that its customer has deleted at the channel; left out for any other erasure. */
  unsent?: string[];
}

/**
 * Steps that erase a person's data from a table. Repeating a step changes nothing. The steps for messages run
 * in the order below, each for all tables before the next step, because every transaction of the service
 * locks rows in that order.
 */
export interface Erasure {
  /**
   * Erases the table's data of a contact, except copies of messages, up to `count` rows.
   * @returns whether there may be more rows
   */
  eraseContact?(tx: Transaction, contact: ContactKey, count: number): Promise<boolean>;

  /** Erases the table's data of an agent. Its statements touch few rows. */
  eraseAgent?(tx: Transaction, agent: AgentKey): Promise<void>;

  /**
   * Erases copies of messages in tables whose writers do not lock the conversation. It runs before the
   * erasure locks the conversation.
   */
  eraseUnlocked?(tx: Transaction, messages: ErasedMessages): Promise<void>;

  /**
   * Cancels all waiting work for the messages.
   * @returns the ids of messages that are being sent at this moment, which keep their status
   */
  cancel?(tx: Transaction, messages: ErasedMessages): Promise<string[]>;

  /**
   * Erases the messages themselves.
   * @param beingSent ids of messages that `cancel` could not stop
   * @returns the number of messages that had a text
   */
  eraseMessages?(tx: Transaction, messages: ErasedMessages, beingSent: string[]): Promise<number>;

  /** Erases copies of the messages, and the conversation's data about its contact. */
  eraseCopies?(tx: Transaction, messages: ErasedMessages): Promise<void>;
}

/** Line of a contact's export. `type` names the kind of row. */
export interface ExportedLine {
  type: string;
}

/** Reads a table's rows for a contact's export, oldest first, and only as the caller asks for more lines. */
export interface Export {
  exportContact?(contact: ContactKey): AsyncIterable<ExportedLine>;
  exportConversation?(conversation: ConversationKey): AsyncIterable<ExportedLine>;
}

export interface CleanUp {
  /** Column with the time from which a row's age counts. An index begins with this column. */
  age: string;
  /** Hours for which rows are kept; `history` for as long as events and deliveries (RETENTION_DAYS). */
  keptHours: number | 'history';
  /** Whether rows are kept until their whole day (UTC) is old enough, like the partitions of events. */
  wholeDays?: true;
  /**
   * SQL condition that selects the rule's rows, as a partial index has it; left out for a rule for all rows.
   */
  among?: string;
  /** SQL condition on the row `t`. Rows that do not meet it stay, because they may still be needed. */
  guard?: string;
}

/** Rule that keeps a day's partitions while unfinished work needs their rows. */
export interface HistoryUse {
  /**
   * SQL condition that the row `t` needs the day `day`. `day.first` is the lowest id of the day, `day.next`
   * the lowest id of the next day, `day.start` the time at which the day begins.
   */
  needsDay: string;

  /**
   * Ends up to `count` rows of unfinished work that needs events or deliveries with ids below `next`, if the
   * workspace is suspended. Without this method, the table's work is never ended, and its days are kept.
   * @returns the number of ended rows; `count` when there may be more
   */
  giveUpSuspended?(tx: Transaction, tenantId: string, next: string, count: number): Promise<number>;
}

/**
 * Place of a table's rows in a cluster of Citus. `workspace`: on the node of their workspace. `coordinator`:
 * on the coordinator, for rows that belong to no workspace, and for look-up tables, which tell the workspace
 * of a value such as the hash of an API key.
 */
export type Placement = 'workspace' | 'coordinator';

/**
 * Declares how a table's rows are deleted with their workspace, erased, exported, and deleted for their age.
 * The folder that writes the table declares it; the services that do this work know no column of the table.
 * Every table of the database has a declaration.
 */
export interface TableDeclaration {
  name: string;
  /**
   * Columns of the primary key, with their SQL types. On a node of Citus, the workspace's id is the first.
   */
  key: Record<string, string>;
  placement: Placement;
  deletion: DeletionOrder | NotNeeded;
  erasure: Erasure | NotNeeded;
  export: Export | NotNeeded;
  retention: CleanUp | NotNeeded;
  history?: HistoryUse;
  /**
   * Prefixes of the columns of encrypted secrets. Each secret has the columns `<prefix>_key_id` and
   * `<prefix>_ciphertext`, which may be null. It is encrypted with the row's `id` as context. When the keys
   * are rotated, it is encrypted with the new key.
   */
  secrets?: string[];
}

/** Position of a table among the tables whose rows are deleted with a workspace. */
export interface DeletionOrder {
  /** Tables to which rows of this table refer. The rows of this table are deleted first. */
  before?: string[];
  /** Tables whose rows turn into rows of this table. The rows of those tables are deleted first. */
  after?: string[];
}

/** Reports whether a declaration has an action, rather than a reason why it needs none. */
export function isNeeded<T extends object>(action: T | NotNeeded): action is T {
  return !('none' in action);
}
