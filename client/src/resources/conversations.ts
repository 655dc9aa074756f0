import type {
  Conversation,
  ConversationChanges,
  ConversationDetail,
  ConversationListItem,
  ListConversationsQuery,
  ConversationInput,
} from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Reads, creates and changes conversations with customers. */
export class Conversations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists conversations, newest first; with `sort: 'activity'`, latest activity first. Scope:
   * `conversations:read`.
   */
  list(query?: ListConversationsQuery, options?: CallOptions): PagedList<ConversationListItem> {
    return this.#transport.list(
      { operation: 'listConversations', method: 'GET', path: '/api/v1/conversations' },
      query,
      options,
    );
  }

  /** Returns a conversation with its contact. Scope: `conversations:read`. */
  get(id: string, options?: CallOptions): Promise<ConversationDetail> {
    return this.#transport.send(
      { operation: 'getConversation', method: 'GET', path: '/api/v1/conversations/{id}', id },
      options,
    );
  }

  /**
   * Opens a conversation with a contact. Repeated attempts open only one conversation. Scope:
   * `conversations:create`.
   */
  create(conversation: ConversationInput, options?: CreateOptions): Promise<Conversation> {
    return this.#transport.send(
      {
        operation: 'createConversation',
        method: 'POST',
        path: '/api/v1/conversations',
        body: conversation,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Changes a conversation's status, its assigned agent or the end of its snooze. Scope:
   * `conversations:write`.
   */
  update(id: string, changes: ConversationChanges, options?: CallOptions): Promise<Conversation> {
    return this.#transport.send(
      {
        operation: 'updateConversation',
        method: 'PATCH',
        path: '/api/v1/conversations/{id}',
        id,
        body: changes,
      },
      options,
    );
  }
}
