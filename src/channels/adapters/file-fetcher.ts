import http, { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { AddressPolicy } from '../../outgoing/address-policy';
import { HostResolver } from '../../outgoing/host-resolver';
import { ConnectionSetup, VettedConnector } from '../../outgoing/vetted-connector';

const MAX_REDIRECTS = 4;
const CONNECT_MS = 10_000;
/** Milliseconds without a byte after which a fetch ends. */
const SILENCE_MS = 20_000;
const USER_AGENT = 'Service-Files/1.0';
const HTTPS_PORT = 443;

/** File that a provider hands out, as it arrives. */
export interface FetchedFile {
  kind: 'FETCHED';
  content: IncomingMessage;
  contentType: string | null;
  /** Number of bytes, if the provider names it. */
  size: number | undefined;
}

/** Answer without a file; `status` is 0 if the provider was not reached, or has a private address. */
export interface RefusedFetch {
  kind: 'REFUSED';
  status: number;
}

/** Address at a host that may not be asked. */
export interface ForbiddenFetch {
  kind: 'FORBIDDEN';
}

export interface FetchRequest {
  url: string;
  /** Hosts that may be asked: a name, or a domain with a dot before it for all hosts below it. */
  hosts: readonly string[];
  /** Address of the provider's API, whose host may be asked as well. An operator has configured it. */
  apiUrl: string;
  /** Value of the header `Authorization` for the first host; none of it is sent to any other origin. */
  authorization?: string;
  signal: AbortSignal;
}

/**
 * Fetches files from the hosts of providers. It asks listed hosts alone, over https and at public addresses,
 * and checks each redirect like the first address.
 */
@Injectable()
export class FileFetcher {
  private readonly connector: VettedConnector;

  constructor(config: Config) {
    const { webhookAllowedNetworks, webhookDeniedNetworks, webhookDnsServers, webhookExtraCa } = config;
    this.connector = new VettedConnector({
      policy: new AddressPolicy(webhookAllowedNetworks, webhookDeniedNetworks),
      resolver: new HostResolver({ ...(webhookDnsServers.length > 0 && { servers: webhookDnsServers }) }),
      extraCa: webhookExtraCa,
    });
  }

  /** Fetches a file. Never throws, except the reason of the signal. */
  async fetch(request: FetchRequest): Promise<FetchedFile | RefusedFetch | ForbiddenFetch> {
    let { url, authorization } = request;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const target = parseUrl(url);
      if (target === null || !isAllowed(target, request)) return { kind: 'FORBIDDEN' };
      const answer = await this.get(target, request, authorization);
      request.signal.throwIfAborted();
      if (answer === null) return { kind: 'REFUSED', status: 0 };
      const { statusCode: status = 0, headers } = answer;
      if (status === 200) return fetchedFile(answer);
      answer.destroy();
      if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined)
        return { kind: 'REFUSED', status };
      const next = parseUrl(headers.location, target);
      if (next === null) return { kind: 'REFUSED', status };
      if (next.origin !== target.origin) authorization = undefined;
      url = next.href;
    }
    return { kind: 'REFUSED', status: 0 };
  }

  /** Returns the head of an answer; null if the host was not reached, or has a private address. */
  private async get(
    target: URL,
    { apiUrl, signal }: FetchRequest,
    authorization: string | undefined,
  ): Promise<IncomingMessage | null> {
    try {
      const isOfApi = target.origin === new URL(apiUrl).origin;
      const socket = isOfApi ? undefined : await this.connect(target);
      return await ask(target, socket, authorization, signal);
    } catch {
      return null;
    }
  }

  private connect({ hostname, port, origin }: URL): Promise<Duplex> {
    const receiver = {
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? HTTPS_PORT : Number(port),
      origin,
    };
    return this.connector.open(receiver, new ConnectionSetup(performance.now() + CONNECT_MS));
  }
}

function ask(
  { hostname, port, pathname, search, protocol, host }: URL,
  socket: Duplex | undefined,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: http.RequestOptions = {
    hostname,
    port,
    path: pathname + search,
    headers: {
      host,
      'user-agent': USER_AGENT,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(authorization !== undefined && { authorization }),
    },
    signal,
    // Node ignores the opened socket if there is an agent, and `agent: false` makes one.
    ...(socket === undefined ? { agent: false } : { createConnection: () => socket }),
  };
  // A socket that the connector has opened has TLS already.
  const { request } = socket === undefined && protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve);
    sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error('the provider sent nothing')));
    sent.once('error', reject).end();
  });
}

function fetchedFile(content: IncomingMessage): FetchedFile {
  const { 'content-type': contentType = null, 'content-length': length } = content.headers;
  return { kind: 'FETCHED', content, contentType, size: length === undefined ? undefined : Number(length) };
}

function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

function isAllowed(url: URL, { hosts, apiUrl }: FetchRequest): boolean {
  if (url.origin === new URL(apiUrl).origin) return true;
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return isListedHost(hosts, url.hostname);
}

/** Reports whether a host is one of those, or below one of the domains, which begin with a dot. */
export function isListedHost(hosts: readonly string[], hostname: string): boolean {
  return hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host));
}
