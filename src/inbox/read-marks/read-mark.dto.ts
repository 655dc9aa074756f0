import { IsString } from 'class-validator';

export class MarkRead {
  @IsString()
  messageId: string;
}

export interface UnreadConversation {
  id: string;
  /** Id of the customer's newest unread message; null if the conversation is only marked as unread. */
  messageId: string | null;
  contactName: string | null;
  /** Beginning of the message `messageId`; null if it is not the newest message of the conversation. */
  preview: string | null;
}

export interface Unread {
  /** Number of unread conversations; 100 stands for more than 99. */
  count: number;
  /** Up to five unread conversations, the one with the latest message of a customer first. */
  latest: UnreadConversation[];
}
