import { createRequire } from 'node:module';
import { SECRETS_KEYS } from './settings.mjs';

const require = createRequire(import.meta.url);
const { generateApiKey, hashApiKey } = require('../../dist/auth/api-key-token.js');
const { parseSecretsKeys } = require('../../dist/config/secrets-keys.js');
const { SecretBox } = require('../../dist/secrets/secret-box.js');
const { generateEndpointSecret } = require('../../dist/webhooks/sending/signature.js');

export const DAY_MS = 24 * 60 * 60 * 1000;
/** Time of the first conversation; the others follow a second apart. Too young for the nightly clean-up. */
export const EPOCH_MS = Date.now() - 20 * DAY_MS;
export const STEP_MS = 1_000;

/** An id that sorts by time, as the service's do. Its random part is the row's number. */
export function idOf(ms, n) {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** The lowest id of a moment. */
export function lowestId(ms) {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** Workspaces with an endpoint at the receiver. One more has an endpoint that hangs. */
export const RECEIVING = 100;
const CONVERSATIONS_EACH = 20;
/** Bounds the size of a database of many workspaces. */
const CONVERSATIONS_AT_MOST = 20_000;
const OTHER_WORKSPACES = 9;

const secrets = new SecretBox(parseSecretsKeys(SECRETS_KEYS));
let serial = 0;
const newId = () => idOf(EPOCH_MS - 1_000_000 + serial++, serial);

function newWorkspace(name) {
  return { id: newId(), name, agentId: newId() };
}

/**
 * Workspaces that get webhooks, not yet inserted. The receiver treats the endpoints of each group in its own way.
 *
 * @param {'live' | 'flood' | 'hang' | 'fail'} group
 */
export function newReceiving(count, group, endpointsEach = 1) {
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
      /** The first one. */
      endpoint: endpoints[0],
      endpoints,
    };
  });
}

/** @typedef {ReturnType<typeof newReceiving>[number]} Receiving */

/**
 * Gives a workspace an API key, not yet inserted.
 *
 * @template T
 * @param {T} workspace
 */
export function withApiKey(workspace) {
  const apiKey = generateApiKey();
  return { ...workspace, apiKeyId: newId(), apiKey, apiKeyHash: hashApiKey(apiKey) };
}

function newEndpoint(tenantId, path) {
  const id = newId();
  const secret = generateEndpointSecret();
  return { id, tenantId, path, secret, sealed: secrets.encrypt(secret, id) };
}

/**
 * One workspace for the measured requests, others that share its tables, and workspaces that get webhooks. `fill` makes
 * the mass of rows.
 */
export function makeFixture(
  /** @type {import('./plan.mjs').Sizes} */ { otherEndpoints, receiving = RECEIVING },
) {
  const measured = newWorkspace('measured');
  const others = Array.from({ length: OTHER_WORKSPACES }, (_, n) => newWorkspace(`other-${n}`));
  return {
    measured: withApiKey(measured),
    others,
    receiving: [...newReceiving(receiving, 'live'), ...newReceiving(1, 'hang')],
    /** Endpoints of the other workspaces, which have no events. */
    otherEndpoints: Array.from({ length: otherEndpoints }, (_, n) =>
      newEndpoint(others[n % others.length].id, '/nobody'),
    ),
  };
}

/** @typedef {ReturnType<typeof makeFixture>} Fixture */
