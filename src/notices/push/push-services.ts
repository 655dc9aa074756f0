import { IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { AddressPolicy } from '../../outgoing/address-policy';
import { HostResolver } from '../../outgoing/host-resolver';
import { ConnectionSetup, Receiver, VettedConnector } from '../../outgoing/vetted-connector';
import { PushAddress } from './push-addresses.repository';
import { makePushRequest, PushNotice, PushRequest } from './push-message';

/** Longest time of a request in milliseconds, from the lookup of the name to the head of the answer. */
const MAX_MS = 10_000;
const MAX_HEAD_BYTES = 16 * 1024;
const HTTPS_PORT = 443;

/**
 * Sends requests to push services, over https, at public addresses. A push service is a stranger's server: a
 * browser names it. The body of its answer is not read, and no redirect is followed.
 */
@Injectable()
export class PushServices {
  private readonly policy: AddressPolicy;
  private readonly connector: VettedConnector;

  constructor(private readonly config: Config) {
    const { webhookAllowedNetworks, webhookDeniedNetworks, webhookDnsServers, webhookExtraCa } = config;
    this.policy = new AddressPolicy(webhookAllowedNetworks, webhookDeniedNetworks);
    this.connector = new VettedConnector({
      policy: this.policy,
      resolver: new HostResolver({ ...(webhookDnsServers.length > 0 && { servers: webhookDnsServers }) }),
      extraCa: webhookExtraCa,
    });
  }

  /** Public key for subscriptions, in base64url; null if the service has no keys, and pushes no notices. */
  get publicKey(): string | null {
    return this.config.vapid?.publicKey ?? null;
  }

  /**
   * Checks the URL of a push address, except the addresses of its host, which each request checks.
   * @returns the URL, normalised
   * @throws EndpointUrlRefused
   */
  parse(endpoint: string): URL {
    return this.policy.parseEndpointUrl(endpoint);
  }

  /**
   * Sends a notice to the push service of an address, and returns the status of the answer. Requires keys.
   * @throws EndpointUrlRefused, AddressRefused, DnsFailure, ConnectionFailure; Error for any other failure
   */
  async post(address: PushAddress, notice: PushNotice): Promise<number> {
    const url = this.parse(address.endpoint);
    const push = await makePushRequest(this.config.vapid!, address, notice);
    const setup = new ConnectionSetup(performance.now() + MAX_MS);
    const socket = await this.connector.open(receiverOf(url), setup);
    try {
      return await ask(socket, url, push, AbortSignal.timeout(Math.ceil(setup.remainingMs())));
    } finally {
      socket.destroy();
    }
  }
}

function receiverOf({ hostname, port, origin }: URL): Receiver {
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? HTTPS_PORT : Number(port),
    origin,
  };
}

function ask(
  socket: Duplex,
  { host, pathname, search }: URL,
  { headers, body }: PushRequest,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    request({
      method: 'POST',
      path: pathname + search,
      headers: { host, ...headers },
      createConnection: () => socket,
      maxHeaderSize: MAX_HEAD_BYTES,
      signal,
    })
      .once('response', (answer: IncomingMessage) => {
        answer.on('error', () => undefined); // The connection ends before the body.
        resolve(answer.statusCode!);
      })
      .once('upgrade', () => reject(new Error('The push service changed the protocol')))
      .on('error', reject)
      .end(body);
  });
}
