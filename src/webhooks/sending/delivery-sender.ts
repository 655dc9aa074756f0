import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { Memo } from '../../common/memo';
import { AddressPolicy } from './address-policy';
import { AttemptOutcome } from './attempt-outcome';
import { DeliveryExchange } from './delivery-exchange';
import { bodyOf, headersOf, RequestContent, timestampOf, webhookIdOf } from './delivery-request';
import { HostResolver } from './host-resolver';
import { StartPermit } from './start-permit';
import { serviceSignature, SigningSecrets, standardSignature } from './signature';
import { VettedConnector } from './vetted-connector';

const MAX_HEADER_BYTES = 16 * 1024;
/** Number of endpoint addresses of which the parts are remembered. */
const MAX_ADDRESSES = 10_000;

/** Parts of an endpoint's address that a request needs. */
interface Address {
  host: string;
  origin: string;
  path: string;
}

export interface DeliveryRequest extends RequestContent, SigningSecrets {
  url: string;
  /** Whether the response's headers are kept for a success too. */
  keepsHeaders?: boolean;
  /** Time of the attempt in body and headers; now by default. */
  at?: Date;
}

export interface DeliverySenderOptions {
  /** Policy of the addresses that deliveries may reach. */
  policy: AddressPolicy;
  /** PEM certificates that are trusted beside the usual authorities. */
  extraCa?: string;
  resolver?: HostResolver;
  /** Timeout of the whole attempt, from the lookup to the end of the response. */
  timeoutMs?: number;
  /** Age from which a connection takes no further request, so that its address is vetted again. */
  connectionMaxAgeMs?: number;
  /** Number of open connections from which on none is kept after its request. */
  maxKept?: number;
  /** Time for which an unused connection is kept, unless the receiver's Keep-Alive header says otherwise. */
  connectionIdleMs?: number;
}

/** Makes one signed POST per call over kept-alive connections, to vetted addresses only. */
@Injectable()
export class DeliverySender implements OnApplicationShutdown {
  private readonly policy: AddressPolicy;
  private readonly connector: VettedConnector;
  private readonly agent: Agent;
  private readonly timeoutMs: number;
  private readonly maxKept: number;
  private readonly addresses = new Memo<Address>(MAX_ADDRESSES);

  constructor({
    policy,
    extraCa,
    resolver = new HostResolver(),
    timeoutMs = 10_000,
    connectionMaxAgeMs = 60_000,
    connectionIdleMs = 4_000,
    maxKept = Infinity,
  }: DeliverySenderOptions) {
    this.timeoutMs = timeoutMs;
    this.maxKept = maxKept;
    this.policy = policy;
    this.connector = new VettedConnector({ policy, resolver, extraCa });
    // Unlike the global one, this agent ignores the environment's proxies. It follows no redirects. The
    // exchange limits the time.
    this.agent = new Agent({
      connect: this.connector.connect,
      pipelining: 1,
      clientTtl: connectionMaxAgeMs,
      keepAliveTimeout: connectionIdleMs,
      keepAliveMaxTimeout: connectionMaxAgeMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * Sends a request. A failure of the receiver is an outcome; only an internal error rejects.
   * @param permit is asked before the first byte, and renewed if the connection took longer than it lasts
   * @returns null when the permission has ended: nothing was sent
   */
  send(request: DeliveryRequest): Promise<AttemptOutcome>;
  send(request: DeliveryRequest, permit: StartPermit): Promise<AttemptOutcome | null>;
  send(request: DeliveryRequest, permit?: StartPermit): Promise<AttemptOutcome | null> {
    const at = request.at ?? new Date();
    const exchange = new DeliveryExchange(at, this.timeoutMs, this.connector, permit, request.keepsHeaders);
    try {
      const { host, origin, path } = this.addresses.get(request.url, () => this.parse(request.url));
      const body = Buffer.from(bodyOf(request, at));
      exchange.begin(host, () => {
        this.agent.dispatch(
          {
            origin,
            path,
            method: 'POST',
            headers: headersOf(request, at, signaturesOf(request, at, body)),
            body,
            reset: this.connector.openConnections >= this.maxKept,
          },
          exchange,
        );
      });
    } catch (error) {
      exchange.endWithError(error as Error);
    }
    return exchange.outcome;
  }

  /** Checks an address again: the rules or the operator's networks may have changed since its creation. */
  private parse(address: string): Address {
    const { host, origin, pathname, search } = this.policy.parseEndpointUrl(address);
    return { host, origin, path: pathname + search };
  }

  /** Number of receivers with an open connection. */
  get openOrigins(): number {
    return Object.keys(this.agent.stats).length;
  }

  /** Waits for the running deliveries, then closes every connection. */
  async close(): Promise<void> {
    if (!this.agent.destroyed) await this.agent.close();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

function signaturesOf(
  request: DeliveryRequest,
  at: Date,
  body: Buffer,
): { service: string; standard: string } {
  const { secret, previousSecret: previous } = request;
  const webhookId = webhookIdOf(request);
  const timestamp = timestampOf(at);
  // A receiver of Standard Webhooks accepts any one of several signatures. The second one is made only during
  // a roll.
  const standard = standardSignature(secret, webhookId, timestamp, body);
  const previousStandard = previous
    ? ` ${standardSignature(previous.secret, webhookId, timestamp, body)}`
    : '';
  return {
    service: serviceSignature(previous?.signsService ? previous.secret : secret, body),
    standard: standard + previousStandard,
  };
}
