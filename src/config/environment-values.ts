import { Resolver } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { parseDatabaseAddress } from './database-address';
import { parseNetwork } from '../common/network';
import { parseSecretsKeys, SecretsKey } from './secrets-keys';
import { Environment } from './environment';
import { keptSecretsKeys } from './local-data';

// Parsers of the variables that are more than a word or a number. Each throws what is wrong.

/** Parses the encryption keys. Outside production they default to the generated keys of this checkout. */
export function secretsKeysOf(env: Environment): SecretsKey[] {
  if (env.SECRETS_KEYS) return parseSecretsKeys(env.SECRETS_KEYS);
  if (env.NODE_ENV === 'production')
    throw new Error('must be set in production: id:base64 pairs, 32 bytes each');
  return parseSecretsKeys(keptSecretsKeys(env.DATA_DIR));
}

/** Parses the database's address. A missing one is not reported here: another check does so. */
export function databaseUrlOf(url: string | undefined): string {
  if (url) parseDatabaseAddress(url);
  return url ?? '';
}

/**
 * Parses the owner's address; null if it is not set.
 * @throws Error in an API process: one that does not know the owner's password can't lose it
 */
export function ownerUrlOf(url: string | undefined, { ROLE }: Environment): string | null {
  if (!url) return null;
  if (ROLE === 'api')
    throw new Error('must not be set with ROLE=api: only workers and "migrate" act as the owner');
  return databaseUrlOf(url);
}

export function networksOf(text: string): string[] {
  const networks = listOf(text);
  networks.forEach(parseNetwork);
  return networks;
}

export function nameServersOf(text: string): string[] {
  const servers = listOf(text);
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error(`"${text}" is not a list of addresses, each with or without a port`);
  }
  return servers;
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Names of networks that Express knows. */
const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal'];

/** Parses `true`, `false`, a number of hops, or addresses and networks, as Express takes them. */
export function trustProxyOf(text: string): string | number | boolean {
  if (text === '' || text === 'false') return false;
  if (text === 'true') return true;
  if (/^\d+$/.test(text)) return Number(text);
  for (const proxy of text.split(',').map((part) => part.trim())) {
    if (!PROXY_GROUPS.includes(proxy) && !ipaddr.isValid(proxy) && !ipaddr.isValidCIDR(proxy))
      throw new Error(`"${proxy}" is not an address or a network, nor one of ${PROXY_GROUPS.join(', ')}`);
  }
  return text;
}
