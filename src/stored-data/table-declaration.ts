import { Transaction } from '../database/transaction';

/** Says in place of an action why a table needs none. */
export interface NotNeeded {
  none: string;
}

/** Names a contact of a workspace. */
export interface ContactKey {
  tenantId: string;
  contactId: string;
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
  /** Whether the contact is erased too. False for messages that are older than their workspace keeps them. */
  withContact: boolean;
}

/**
 * What a table does to forget a person. Doing any of it again changes nothing. The steps of messages run in the order in
 * which they stand here, each for all tables: the order in which every transaction of the service takes these locks.
 */
export interface Erasure {
  /**
   * Erases what the table says of a contact beside conversations, up to `count` rows.
   * @returns whether there may be more
   */
  eraseContact?(tx: Transaction, contact: ContactKey, count: number): Promise<boolean>;

  /** Erases copies of messages before the conversation is locked: those that nothing writes under that lock. */
  eraseUnlocked?(tx: Transaction, messages: ErasedMessages): Promise<void>;

  /**
   * Stops what waits to be done with the messages.
   * @returns the ids of messages that are being sent at this moment: they keep their status
   */
  cancel?(tx: Transaction, messages: ErasedMessages): Promise<string[]>;

  /**
   * Erases the messages themselves.
   * @param beingSent ids of messages that `cancel` could not stop
   * @returns how many had a text
   */
  eraseMessages?(tx: Transaction, messages: ErasedMessages, beingSent: string[]): Promise<number>;

  /** Erases copies of messages, and what the conversation says of its contact. */
  eraseCopies?(tx: Transaction, messages: ErasedMessages): Promise<void>;
}

/** A line of a contact's export: `type` names the kind of row. */
export interface ExportedLine {
  type: string;
}

/** What a table tells of a contact in their export, oldest first, read in steps as the lines are asked for. */
export interface Export {
  exportContact?(contact: ContactKey): AsyncIterable<ExportedLine>;
  exportConversation?(conversation: ConversationKey): AsyncIterable<ExportedLine>;
}

/** Which rows of a table are deleted because of their age. */
export interface CleanUp {
  /** The column with the time from which a row is kept. An index begins with it. */
  age: string;
  /** How long rows are kept; `history`: as long as events and deliveries, RETENTION_DAYS. */
  keptHours: number | 'history';
  /** Keeps rows until the whole day (UTC) is old enough, as the partitions of the history are kept. */
  wholeDays?: true;
  /** A condition in SQL on the row `t`, for rows that something else may still need. */
  guard?: string;
}

/** Unfinished work that keeps a day of the history: its partitions are not dropped while it lasts. */
export interface HistoryUse {
  /**
   * A condition in SQL, on the row `t` and on `day`: `day.first` is the lowest id of the day, `day.next` that of the next
   * day, `day.start` the time at which the day begins.
   */
  needsDay: string;

  /**
   * Gives up the work of a workspace, up to `count` rows, that needs what is older than the id `next`; nothing when the
   * workspace is not suspended. A table without this method keeps the days that its rows need.
   * @returns the number of rows: `count` when there may be more
   */
  giveUpSuspended?(tx: Transaction, tenantId: string, next: string, count: number): Promise<number>;
}

/**
 * What happens to the rows of a table beside its feature's own use: declared by the folder that writes the table, run by
 * those that know no column of it. Every table of the database has a declaration, and each answers every question.
 */
export interface TableDeclaration {
  name: string;
  /** The columns of the primary key, each with its type. That of a workspace's table begins with `tenant_id`. */
  key: Record<string, string>;
  /** How a workspace's deletion takes the rows. */
  deletion: DeletionOrder | NotNeeded;
  /** How a contact's data and the copies of a message's text are erased. */
  erasure: Erasure | NotNeeded;
  /** What a contact's export tells. */
  export: Export | NotNeeded;
  /** What goes by its age. */
  retention: CleanUp | NotNeeded;
  /** Which days of the history the rows need. */
  history?: HistoryUse;
  /**
   * Secrets, each in two columns `<prefix>_key_id` and `<prefix>_ciphertext` that may be null, encrypted with the row's
   * `id` as their context: a rotation of the keys encrypts them again.
   */
  secrets?: string[];
}

/** When a workspace's deletion takes the rows of a table. */
export interface DeletionOrder {
  /** Tables that these rows refer to: they go later. */
  before?: string[];
  /** Tables whose rows become rows of this one: they go earlier. */
  after?: string[];
}

/** Whether a declaration names an action, and no reason why there is none. */
export function isNeeded<T extends object>(action: T | NotNeeded): action is T {
  return !('none' in action);
}
