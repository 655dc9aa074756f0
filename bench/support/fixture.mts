import { generateApiKey, hashApiKey } from '#dist/auth/api-key-token.js';
import { parseSecretsKeys } from '#dist/config/secrets-keys.js';
import { SecretBox, type SealedSecret } from '#dist/secrets/secret-box.js';
import { generateEndpointSecret } from '#dist/webhooks/sending/signature.js';
import { itemAt, itemInTurn } from './items.mts';
import type { Sizes } from './plan.mts';
import { SECRETS_KEYS } from './settings.mts';

export const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Time of the first conversation, in milliseconds; each next one is a second later. The service's nightly
 * clean-up does not yet delete rows of this age.
 */
export const EPOCH_MS = Date.now() - 20 * DAY_MS;
export const STEP_MS = 1_000;

/** Returns a UUID that sorts by time, as the service's ids do. `n` stands in place of the random part. */
export function idOf(ms: number, n: number): string {
  return `${timeOf(ms)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** Returns the lowest UUID of a moment, the bound of a partition. */
export function lowestId(ms: number): string {
  return `${timeOf(ms)}-0000-0000-000000000000`;
}

function timeOf(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Number of workspaces with an endpoint that answers. The fixture has one more, whose endpoint hangs. */
export const RECEIVING = 100;
const CONVERSATIONS_EACH = 20;
/** Total number of conversations that `newReceiving` divides among its workspaces, at most. */
const CONVERSATIONS_AT_MOST = 20_000;
const OTHER_WORKSPACES = 9;

/**
 * Group of endpoints, the first segment of their path. The receiver never answers `hang`, answers `fail` with
 * 500, and the others with 200.
 */
export type Group = 'live' | 'flood' | 'hang' | 'fail';

export interface Workspace {
  id: string;
  name: string;
  agentId: string;
}

export interface Endpoint {
  id: string;
  tenantId: string;
  path: string;
  secret: string;
  sealed: SealedSecret;
}

/** Workspace with webhook endpoints, and the conversations of its events. */
export interface Receiving extends Workspace {
  contactId: string;
  conversationIds: string[];
  /** First of `endpoints`, for the scenarios that need only one. */
  endpoint: Endpoint;
  endpoints: Endpoint[];
}

/** API key of a workspace: id, key and hash. */
export interface ApiKey {
  apiKeyId: string;
  apiKey: string;
  apiKeyHash: Buffer;
}

/** Workspaces and endpoints of a filled database that scenarios use. The other rows are generated in SQL. */
export interface Fixture {
  /** Workspace that the measured API requests belong to. */
  measured: Workspace & ApiKey;
  /**
   * Workspaces whose conversations, contacts and messages lie in the tables between the rows of `measured`.
   */
  others: Workspace[];
  receiving: Receiving[];
  /** Endpoints of `others`, which get no events and only make the tables larger. */
  otherEndpoints: Endpoint[];
}

const secrets = new SecretBox(parseSecretsKeys(SECRETS_KEYS));
let serial = 0;
const newId = () => idOf(EPOCH_MS - 1_000_000 + serial++, serial);

function newWorkspace(name: string): Workspace {
  return { id: newId(), name, agentId: newId() };
}

/** Makes `count` workspaces with endpoints of a group, without inserting them. */
export function newReceiving(
  count: number,
  group: Group,
  endpointsEach = 1,
  conversations = Math.max(1, Math.min(CONVERSATIONS_EACH, Math.floor(CONVERSATIONS_AT_MOST / count))),
): Receiving[] {
  return Array.from({ length: count }, () => {
    const workspace = newWorkspace(`${group}-${serial}`);
    const endpoints = Array.from({ length: endpointsEach }, () =>
      newEndpoint(workspace.id, `/${group}/${serial}`),
    );
    return {
      ...workspace,
      contactId: newId(),
      conversationIds: Array.from({ length: conversations }, newId),
      endpoint: itemAt(endpoints, 0),
      endpoints,
    };
  });
}

/** Returns the workspace with a new API key, without inserting it. */
export function withApiKey<T extends object>(workspace: T): T & ApiKey {
  const apiKey = generateApiKey();
  return { ...workspace, apiKeyId: newId(), apiKey, apiKeyHash: hashApiKey(apiKey) };
}

function newEndpoint(tenantId: string, path: string): Endpoint {
  const id = newId();
  const secret = generateEndpointSecret();
  return { id, tenantId, path, secret, sealed: secrets.encrypt(secret, id) };
}

/** Makes the fixture of a database, without inserting it. */
export function makeFixture({ otherEndpoints, receiving = RECEIVING }: Sizes): Fixture {
  const measured = newWorkspace('measured');
  const others = Array.from({ length: OTHER_WORKSPACES }, (_, n) => newWorkspace(`other-${n}`));
  return {
    measured: withApiKey(measured),
    others,
    receiving: [...newReceiving(receiving, 'live'), ...newReceiving(1, 'hang')],
    otherEndpoints: Array.from({ length: otherEndpoints }, (_, n) =>
      newEndpoint(itemInTurn(others, n).id, '/nobody'),
    ),
  };
}
