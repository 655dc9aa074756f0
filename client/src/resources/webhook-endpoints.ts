import type {
  ListWebhookEndpointsQuery,
  WebhookEndpointInput,
  RegisteredWebhookEndpoint,
  SecretRoll,
  WebhookEndpoint,
  WebhookEndpointChanges,
  WebhookEndpointWithSecret,
  WebhookTest,
} from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Reads, creates, changes and deletes webhook endpoints: addresses to which the service sends webhooks. */
export class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists webhook endpoints, newest first. Scope: `webhooks:read`. */
  list(query?: ListWebhookEndpointsQuery, options?: CallOptions): PagedList<WebhookEndpoint> {
    return this.#transport.list(
      { operation: 'listWebhookEndpoints', method: 'GET', path: '/api/v1/webhook-endpoints' },
      query,
      options,
    );
  }

  /** Returns a webhook endpoint. Scope: `webhooks:read`. */
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return this.#transport.send(
      { operation: 'getWebhookEndpoint', method: 'GET', path: '/api/v1/webhook-endpoints/{id}', id },
      options,
    );
  }

  /**
   * Creates a webhook endpoint. Repeated attempts create only one endpoint. `secret` is null if the response
   * of the first attempt was lost: call `rollSecret` to get a secret. Scope: `webhooks:write`.
   */
  create(endpoint: WebhookEndpointInput, options?: CreateOptions): Promise<RegisteredWebhookEndpoint> {
    return this.#transport.send(
      {
        operation: 'createWebhookEndpoint',
        method: 'POST',
        path: '/api/v1/webhook-endpoints',
        body: endpoint,
        takesKey: true,
      },
      options,
    );
  }

  /** Changes, activates or deactivates a webhook endpoint. Scope: `webhooks:write`. */
  update(id: string, changes: WebhookEndpointChanges, options?: CallOptions): Promise<WebhookEndpoint> {
    return this.#transport.send(
      {
        operation: 'updateWebhookEndpoint',
        method: 'PATCH',
        path: '/api/v1/webhook-endpoints/{id}',
        id,
        body: changes,
      },
      options,
    );
  }

  /** Deletes a webhook endpoint. Scope: `webhooks:write`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.send(
      { operation: 'deleteWebhookEndpoint', method: 'DELETE', path: '/api/v1/webhook-endpoints/{id}', id },
      options,
    );
  }

  /**
   * Sends one `webhook.test` event to the endpoint, and returns the receiver's response. Scope:
   * `webhooks:write`.
   */
  test(id: string, options?: CallOptions): Promise<WebhookTest> {
    return this.#transport.send(
      { operation: 'testWebhookEndpoint', method: 'POST', path: '/api/v1/webhook-endpoints/{id}/test', id },
      options,
    );
  }

  /**
   * Gives a webhook endpoint a new secret. For a day, or for `roll.gracePeriodSeconds`, the service signs
   * with the previous secret as well. The client does not repeat this request: if the response is lost, call
   * `rollSecret` again with `gracePeriodSeconds: 0`. Scope: `webhooks:write`.
   */
  rollSecret(id: string, roll: SecretRoll = {}, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
    return this.#transport.send(
      {
        operation: 'rollWebhookEndpointSecret',
        method: 'POST',
        path: '/api/v1/webhook-endpoints/{id}/roll-secret',
        id,
        body: roll,
      },
      options,
    );
  }
}
