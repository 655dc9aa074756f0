import { generateApiKey, hashApiKey } from '#dist/auth/api-key-token.js';
import { parseSecretsKeys } from '#dist/config/secrets-keys.js';
import { SecretBox, type SealedSecret } from '#dist/secrets/secret-box.js';
import { generateEndpointSecret } from '#dist/webhooks/sending/signature.js';
import { itemAt, itemInTurn } from './items.mts';
import type { Sizes } from './plan.mts';
import { SECRETS_KEYS } from './settings.mts';

export const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * The time of the first conversation; the others follow a second apart. Too young for the nightly clean-up.
 */
export const EPOCH_MS = Date.now() - 20 * DAY_MS;
export const STEP_MS = 1_000;

/** Returns an id that sorts by time, as the service's do. Its random part is the row's number. */
export function idOf(ms: number, n: number): string {
  return `${timeOf(ms)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** Returns the lowest id of a moment. */
export function lowestId(ms: number): string {
  return `${timeOf(ms)}-0000-0000-000000000000`;
}

function timeOf(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Workspaces with an endpoint at the receiver. One more has an endpoint that hangs. */
export const RECEIVING = 100;
const CONVERSATIONS_EACH = 20;
/** Bounds the size of a database of many workspaces. */
const CONVERSATIONS_AT_MOST = 20_000;
const OTHER_WORKSPACES = 9;

/** The receiver treats the endpoints of each group in its own way. */
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

/** A workspace that gets webhooks. */
export interface Receiving extends Workspace {
  contactId: string;
  conversationIds: string[];
  /** The first one of `endpoints`. */
  endpoint: Endpoint;
  endpoints: Endpoint[];
}

/** An API key of a workspace. */
export interface ApiKey {
  apiKeyId: string;
  apiKey: string;
  apiKeyHash: Buffer;
}

/** The rows of a database that scenarios know. */
export interface Fixture {
  /** Gets the measured requests. */
  measured: Workspace & ApiKey;
  /** Share the tables of `measured`. */
  others: Workspace[];
  receiving: Receiving[];
  /** Endpoints of the other workspaces, which have no events. */
  otherEndpoints: Endpoint[];
}

const secrets = new SecretBox(parseSecretsKeys(SECRETS_KEYS));
let serial = 0;
const newId = () => idOf(EPOCH_MS - 1_000_000 + serial++, serial);

function newWorkspace(name: string): Workspace {
  return { id: newId(), name, agentId: newId() };
}

/** Returns workspaces that get webhooks, not yet inserted. */
export function newReceiving(count: number, group: Group, endpointsEach = 1): Receiving[] {
  const conversations = Math.max(1, Math.min(CONVERSATIONS_EACH, Math.floor(CONVERSATIONS_AT_MOST / count)));
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

/** Gives a workspace an API key, not yet inserted. */
export function withApiKey<T extends object>(workspace: T): T & ApiKey {
  const apiKey = generateApiKey();
  return { ...workspace, apiKeyId: newId(), apiKey, apiKeyHash: hashApiKey(apiKey) };
}

function newEndpoint(tenantId: string, path: string): Endpoint {
  const id = newId();
  const secret = generateEndpointSecret();
  return { id, tenantId, path, secret, sealed: secrets.encrypt(secret, id) };
}

/** Returns the fixture of a database, not yet inserted. `fill` makes the mass of rows. */
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
