import type {
  FoundMessage,
  FoundMessagePage,
  ListMessagesQuery,
  Message,
  MessageInput,
  SearchMessagesQuery,
} from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Reads, searches and sends messages. */
export class Messages {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists a conversation's messages, newest first. Scope: `messages:read` or `conversations:read`. */
  list(conversationId: string, query?: ListMessagesQuery, options?: CallOptions): PagedList<Message> {
    return this.#transport.list(
      {
        operation: 'listMessages',
        method: 'GET',
        path: '/api/v1/conversations/{id}/messages',
        id: conversationId,
      },
      query,
      options,
    );
  }

  /**
   * Searches the workspace's messages by words, newest first. Each page says how far the search has come.
   * Scope: `conversations:read`.
   */
  search(query: SearchMessagesQuery, options?: CallOptions): PagedList<FoundMessage, FoundMessagePage> {
    return this.#transport.list(
      { operation: 'searchMessages', method: 'GET', path: '/api/v1/messages/search' },
      query,
      options,
    );
  }

  /**
   * Sends a message to the customer over the conversation's channel. Repeated attempts send only one message.
   * Scope: `messages:write`.
   */
  async send(conversationId: string, message: MessageInput, options?: CreateOptions): Promise<Message> {
    const sent = await this.#transport.send(
      {
        operation: 'sendMessage',
        method: 'POST',
        path: '/api/v1/conversations/{id}/messages',
        id: conversationId,
        body: message,
        takesKey: true,
      },
      options,
    );
    return sent.message;
  }
}
