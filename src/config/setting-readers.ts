import { Resolver } from 'node:dns';
import { isEmail, isURL } from 'class-validator';
import ipaddr from 'ipaddr.js';
import { parseNetwork } from '../common/network';
import { parseDatabaseAddress } from './database-address';

/**
 * Reads the text of a variable.
 * @throws InvalidText with faults such as `must be …`, to print after the variable's name; else an Error
 */
export type Reader<Value> = (text: string) => Value;

export class InvalidText extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join(', '));
  }
}

export const text: Reader<string> = (given) => given;

export const whole =
  (min: number, max: number): Reader<number> =>
  (given) => {
    const value = Number(given);
    const faults = [];
    if (!(value <= max)) faults.push(`must not be greater than ${max}`);
    if (!(value >= min)) faults.push(`must not be less than ${min}`);
    if (!Number.isInteger(value)) faults.push('must be an integer number');
    if (faults.length > 0) throw new InvalidText(faults);
    return value;
  };

export const oneOf =
  <const Word extends string>(words: readonly Word[]): Reader<Word> =>
  (given) => {
    const found = words.find((word) => word === given);
    if (!found) throw new InvalidText([`must be one of the following values: ${words.join(', ')}`]);
    return found;
  };

export const logLevel = oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);

/** Makes a reader of two words: `yes` for true, `no` for false. */
export const flag = (yes: string, no: string): Reader<boolean> => {
  const readWord = oneOf([yes, no]);
  return (given) => readWord(given) === yes;
};

/** Reads an address of PostgreSQL. An empty text is allowed. */
export const databaseAddress: Reader<string> = (given) => {
  if (given) parseDatabaseAddress(given);
  return given;
};

const textThat =
  (isFit: (text: string) => boolean, fault: string): Reader<string> =>
  (given) => {
    if (!isFit(given)) throw new InvalidText([fault]);
    return given;
  };

/** Makes a check of URLs with one of the protocols. The host needs no top-level domain. */
const isOver =
  (...protocols: string[]) =>
  (given: string) =>
    isURL(given, { require_tld: false, protocols, require_protocol: true });

const isHttps = isOver('https');

const addressOver = (...protocols: string[]) => textThat(isOver(...protocols), 'must be a URL address');

const readHttpAddress = addressOver('http', 'https');

/** Reads an http or https URL, and removes slashes at its end. */
export const httpAddress: Reader<string> = (given) => readHttpAddress(given).replace(/\/+$/, '');

export const mailServer = addressOver('smtp', 'smtps');

/** Reads an e-mail address, or a name and address such as `Acme <login@example.com>`. */
export const mailSender = textThat(
  (given) => isEmail(given, { allow_display_name: true }),
  'must be an email',
);

/** Readers of the keys of Web Push (VAPID): a point and a number of the curve P-256, each in base64url. */
export const vapidPublicKey = textThat((given) => isBase64url(given, 65), 'must be 65 bytes in base64url');
export const vapidPrivateKey = textThat((given) => isBase64url(given, 32), 'must be 32 bytes in base64url');

/** Reads an address at which the operator of a push service reaches that of this service. */
export const vapidContact = textThat(
  (given) => (given.startsWith('mailto:') ? isEmail(given.slice('mailto:'.length)) : isHttps(given)),
  'must be of the form mailto:ops@example.com, or an https address',
);

function isBase64url(text: string, bytes: number): boolean {
  return /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length === bytes;
}

export const graphVersion = textThat((given) => /^v\d+\.\d+$/.test(given), 'must be of the form v25.0');

export const networks: Reader<string[]> = (given) => {
  const listed = listOf(given);
  listed.forEach(parseNetwork);
  return listed;
};

/** Reads a list of name servers, each `address` or `address:port`. */
export const nameServers: Reader<string[]> = (given) => {
  const servers = listOf(given);
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error(`"${given}" is not a list of addresses, each with or without a port`);
  }
  return servers;
};

function listOf(given: string): string[] {
  return given
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Value of Express's `trust proxy`: the proxies whose X-Forwarded-For header is trusted. */
export type TrustProxy = string | number | boolean;

const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal'];

/** Reads `true`, `false`, a number of hops, or a list of addresses and networks, as Express accepts them. */
export const trustProxy: Reader<TrustProxy> = (given) => {
  if (given === '' || given === 'false') return false;
  if (given === 'true') return true;
  if (/^\d+$/.test(given)) return Number(given);
  for (const proxy of given.split(',').map((part) => part.trim())) {
    if (!PROXY_GROUPS.includes(proxy) && !ipaddr.isValid(proxy) && !ipaddr.isValidCIDR(proxy))
      throw new Error(`"${proxy}" is not an address or a network, nor one of ${PROXY_GROUPS.join(', ')}`);
  }
  return given;
};
