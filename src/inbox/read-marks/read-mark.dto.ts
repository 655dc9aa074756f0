import { IsString } from 'class-validator';

export class MarkRead {
  /** Id of the newest message that the agent has seen. */
  @IsString()
  messageId: string;
}

/** Conversation with a customer's message that an agent has not read. */
export interface UnreadConversation {
  id: string;
  /** Id of the customer's newest message; null if the agent has marked a conversation without one. */
  messageId: string | null;
  contactName: string | null;
  /** First words of that message; null if a colleague has written since. */
  preview: string | null;
}

/** Summary of the conversations that an agent has not read. */
export interface Unread {
  /** Number of conversations; 100 stands for more than 99. */
  count: number;
  /** The five in which a customer has written last, the latest first. */
  latest: UnreadConversation[];
}
