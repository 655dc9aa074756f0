import { Transaction } from '../transaction';

/** Reason why a table needs no rule for an action, such as an export. */
export interface NotNeeded {
  none: string;
}

/** Names a contact of a workspace. */
export interface ContactKey {
  tenantId: string;
  contactId: string;
}

/** Names an agent of a workspace. */
export interface AgentKey {
  tenantId: string;
  agentId: string;
}

/** Names a conversation of a workspace. */
export interface ConversationKey {
  tenantId: string;
  conversationId: string;
}

/** Messages of one conversation that are erased together. */
export interface ErasedMessages extends ConversationKey {
  /** Ids of the messages, ascending. Empty when the step of a contact's erasure has found no message. */
  ids: string[];
  /**
   * Ids of the events that tell of these messages, of changes of the conversation or of the contact's
   * profile, and of audit entries about either.
   */
  eventIds: string[];
  /**
   * Whether the contact is erased too; false for messages that have only passed their workspace's retention.
   */
  withContact: boolean;
  /** Texts of the one message, which its customer has unsent; left out for any other erasure. */
  unsent?: string[];
}

/**
 * Steps by which a table forgets a person. Repeating a step changes nothing. The steps of messages run in the
 * order in which they stand here, each for all tables: every transaction of the service takes these locks in
 * that order.
 */
export interface Erasure {
  /**
   * Erases the table's data of a contact, except copies of messages, up to `count` rows.
   * @returns whether there may be more
   */
  eraseContact?(tx: Transaction, contact: ContactKey, count: number): Promise<boolean>;

  /** Erases the table's data of an agent who is erased. Its statements touch few rows. */
  eraseAgent?(tx: Transaction, agent: AgentKey): Promise<void>;

  /**
   * Erases copies of messages in tables whose writers do not lock the conversation. It runs before the
   * erasure locks the conversation.
   */
  eraseUnlocked?(tx: Transaction, messages: ErasedMessages): Promise<void>;

  /**
   * Stops all work that still waits for the messages.
   * @returns the ids of messages that are being sent at this moment: they keep their status
   */
  cancel?(tx: Transaction, messages: ErasedMessages): Promise<string[]>;

  /**
   * Erases the messages themselves.
   * @param beingSent ids of messages that `cancel` could not stop
   * @returns how many had a text
   */
  eraseMessages?(tx: Transaction, messages: ErasedMessages, beingSent: string[]): Promise<number>;

  /** Erases copies of messages, and the conversation's data of its contact. */
  eraseCopies?(tx: Transaction, messages: ErasedMessages): Promise<void>;
}

/** Line of a contact's export. `type` names the kind of row. */
export interface ExportedLine {
  type: string;
}

/**
 * Reads the rows that a table adds to a contact's export, oldest first, in steps as the lines are asked for.
 */
export interface Export {
  exportContact?(contact: ContactKey): AsyncIterable<ExportedLine>;
  exportConversation?(conversation: ConversationKey): AsyncIterable<ExportedLine>;
}

/** Rule by which a table's rows are deleted for their age. */
export interface CleanUp {
  /** Column with the time from which a row is kept. An index begins with it. */
  age: string;
  /** Hours for which rows are kept; `history` for as long as events and deliveries (RETENTION_DAYS). */
  keptHours: number | 'history';
  /** Keeps rows until their whole day (UTC) is old enough, as the partitions of the history are kept. */
  wholeDays?: true;
  /** Condition in SQL on the rows that the rule is about, which a partial index has; all rows without it. */
  among?: string;
  /** Condition in SQL on the row `t`. Only rows that meet it are deleted; the others may still be needed. */
  guard?: string;
}

/**
 * Unfinished work that needs a day of the history: the day's partitions are not dropped while the work lasts.
 */
export interface HistoryUse {
  /**
   * Condition in SQL on the row `t` and on `day`: `day.first` is the lowest id of the day, `day.next` the
   * lowest of the next day, `day.start` the time at which the day begins.
   */
  needsDay: string;

  /**
   * Gives up work of a suspended workspace, up to `count` rows, that needs rows older than the id `next`;
   * does nothing for a workspace that is not suspended. A table without this method keeps the days that its
   * rows need.
   * @returns the number of rows: `count` when there may be more
   */
  giveUpSuspended?(tx: Transaction, tenantId: string, next: string, count: number): Promise<number>;
}

/**
 * Place of a table's rows in a cluster of Citus. `workspace`: on the node of their workspace, with all that
 * belongs to it. `coordinator`: on the coordinator, for rows that belong to no workspace, and for look-ups,
 * which tell the workspace of a value that a request brings.
 */
export type Placement = 'workspace' | 'coordinator';

/**
 * Declares how the rows of a table are deleted with their workspace, erased, exported, and cleaned up by age.
 * The folder that writes the table declares it; the services that carry it out know no column of the table.
 * Every table of the database has a declaration, and each answers every question.
 */
export interface TableDeclaration {
  name: string;
  /**
   * Columns of the primary key, each with its type. The key of a table on the nodes of its workspaces begins
   * with `tenant_id`.
   */
  key: Record<string, string>;
  /** Place of the rows in a cluster of Citus. On one server all tables are alike. */
  placement: Placement;
  /** Order in which a workspace's deletion takes the rows. */
  deletion: DeletionOrder | NotNeeded;
  /** Steps that erase a contact's data and the copies of a message's text. */
  erasure: Erasure | NotNeeded;
  /** Readers of the rows that belong to a contact's export. */
  export: Export | NotNeeded;
  /** Rule by which rows are deleted for their age. */
  retention: CleanUp | NotNeeded;
  /** Rule by which unfinished work in the table keeps days of the history, which is events and deliveries. */
  history?: HistoryUse;
  /**
   * Prefixes of the secrets' columns. Each secret has two columns, `<prefix>_key_id` and
   * `<prefix>_ciphertext`, which may be null. It is encrypted with the row's `id` as context, and a rotation
   * of the keys encrypts it again.
   */
  secrets?: string[];
}

/** Order of a table among the tables of a workspace's deletion. */
export interface DeletionOrder {
  /** Tables that these rows refer to. They are deleted later. */
  before?: string[];
  /** Tables whose rows become rows of this one. They are deleted earlier. */
  after?: string[];
}

/** Reports whether a declaration names an action rather than the reason why there is none. */
export function isNeeded<T extends object>(action: T | NotNeeded): action is T {
  return !('none' in action);
}
