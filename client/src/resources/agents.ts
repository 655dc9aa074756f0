import type { Agent, ListAgentsQuery } from '../api-types.ts';
import type { CallOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Reads the workspace's agents: people and bots who answer customers. */
export class Agents {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists agents, newest first. Scope: `agents:read`. */
  list(query?: ListAgentsQuery, options?: CallOptions): PagedList<Agent> {
    return this.#transport.list(
      { operation: 'listAgents', method: 'GET', path: '/api/v1/agents' },
      query,
      options,
    );
  }

  /** Returns an agent. Scope: `agents:read`. */
  get(id: string, options?: CallOptions): Promise<Agent> {
    return this.#transport.send(
      { operation: 'getAgent', method: 'GET', path: '/api/v1/agents/{id}', id },
      options,
    );
  }
}
