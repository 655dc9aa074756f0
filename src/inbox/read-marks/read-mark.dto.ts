import { IsString } from 'class-validator';

export class MarkRead {
  @IsString()
  messageId: string;
}

export interface UnreadConversation {
  id: string;
  /** Id of the customer's newest message; null if the agent marked a conversation that has none as unread. */
  messageId: string | null;
  contactName: string | null;
  /** Beginning of the customer's newest message; null if a colleague has written since. */
  preview: string | null;
}

export interface Unread {
  /** Number of unread conversations; 100 stands for more than 99. */
  count: number;
  /** The five conversations in which a customer has written last, latest first. */
  latest: UnreadConversation[];
}
