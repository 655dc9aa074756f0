import type { ApiKeyIdentity, ApiPath } from './api-types.ts';
import type { CallOptions, ClientOptions } from './options.ts';
import type { RateLimit } from './rate-limits.ts';
import { Agents } from './resources/agents.ts';
import { Attachments } from './resources/attachments.ts';
import { Contacts } from './resources/contacts.ts';
import { Conversations } from './resources/conversations.ts';
import { Messages } from './resources/messages.ts';
import { Uploads } from './resources/uploads.ts';
import { WebhookEndpoints } from './resources/webhook-endpoints.ts';
import { Transport } from './transport.ts';

/** Calls the service's REST API for the workspace of its API key. */
export class MessagingClient {
  readonly conversations: Conversations;
  readonly messages: Messages;
  readonly uploads: Uploads;
  readonly attachments: Attachments;
  readonly contacts: Contacts;
  readonly agents: Agents;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly #transport: Transport;

  /** @throws TypeError the address or the API key is malformed */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.conversations = new Conversations(this.#transport);
    this.messages = new Messages(this.#transport);
    this.uploads = new Uploads(this.#transport);
    this.attachments = new Attachments(this.#transport);
    this.contacts = new Contacts(this.#transport);
    this.agents = new Agents(this.#transport);
    this.webhookEndpoints = new WebhookEndpoints(this.#transport);
  }

  /** State of each path's rate limit, from the latest response of that path. */
  get rateLimits(): ReadonlyMap<ApiPath, RateLimit> {
    return this.#transport.rateLimits;
  }

  /** Returns the id, workspace and scopes of the API key. Needs no scope. */
  me(options?: CallOptions): Promise<ApiKeyIdentity> {
    return this.#transport.send({ operation: 'getMe', method: 'GET', path: '/api/v1/me' }, options);
  }
}
