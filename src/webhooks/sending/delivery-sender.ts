import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { AddressPolicy } from './address-policy';
import { AttemptOutcome } from './attempt-outcome';
import { DeliveryExchange } from './delivery-exchange';
import { HostResolver } from './host-resolver';
import { serviceSignature, standardSignature } from './signature';
import { VettedConnector } from './vetted-connector';

const USER_AGENT = 'Service-Webhooks/1.0';
const MAX_HEADER_BYTES = 16 * 1024;

export interface DeliveryRequest {
  deliveryId: string;
  url: string;
  /** The endpoint's secret, `whsec_…`. */
  secret: string;
  eventType: string;
  /** The JSON text of the event's `data`. */
  data: string;
  /** The event's place among those of its conversation; null for what is of no conversation. */
  sequence: string | null;
}

export interface DeliverySenderOptions {
  /** Which addresses deliveries may reach. */
  policy: AddressPolicy;
  /** PEM certificates trusted beside the usual authorities. */
  extraCa?: string;
  resolver?: HostResolver;
  /** For the whole attempt: lookup, connect, TLS, the answer's head, and then its body. */
  timeoutMs?: number;
  /** A connection older than this takes no further request, so that its vetting never gets old. */
  connectionMaxAgeMs?: number;
  /** How long an unused connection is kept if the receiver's Keep-Alive header does not say. */
  connectionIdleMs?: number;
}

/** Makes one signed POST per call over kept-alive connections, to vetted addresses only. */
@Injectable()
export class DeliverySender implements OnApplicationShutdown {
  private readonly policy: AddressPolicy;
  private readonly connector: VettedConnector;
  private readonly agent: Agent;
  private readonly timeoutMs: number;

  constructor({
    policy,
    extraCa,
    resolver = new HostResolver(),
    timeoutMs = 10_000,
    connectionMaxAgeMs = 60_000,
    connectionIdleMs = 4_000,
  }: DeliverySenderOptions) {
    this.timeoutMs = timeoutMs;
    this.policy = policy;
    this.connector = new VettedConnector({ policy, resolver, extraCa });
    // Made by hand, and not the global one, the agent knows nothing of the environment's proxies. It
    // follows no redirects and undoes no compression; the time limit is the exchange's own.
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

  /** Whatever the receiver does is an outcome; only a fault of our own throws. */
  send(request: DeliveryRequest): Promise<AttemptOutcome> {
    const at = new Date();
    const exchange = new DeliveryExchange(at, this.timeoutMs, this.connector);
    try {
      // Checked again here: the rules or the operator's networks may have changed since creation.
      const url = this.policy.parseEndpointUrl(request.url);
      const body = envelope(request, at);
      exchange.begin(url.host, () => {
        this.agent.dispatch(
          {
            origin: url.origin,
            path: url.pathname + url.search,
            method: 'POST',
            headers: signedHeaders(request, at, body),
            body,
          },
          exchange,
        );
      });
    } catch (error) {
      exchange.endWithError(error as Error);
    }
    return exchange.outcome;
  }

  /** How many receivers have connections, busy or kept. */
  get openOrigins(): number {
    return Object.keys(this.agent.stats).length;
  }

  /** Lets the running deliveries finish, then closes every connection. */
  async close(): Promise<void> {
    if (!this.agent.destroyed) await this.agent.close();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

/** Put together as text: the event's data goes out exactly as it was recorded. */
function envelope({ eventType, data }: DeliveryRequest, at: Date): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(eventType)},"deliveredAt":"${at.toISOString()}","data":${data}}`,
  );
}

function signedHeaders(
  { deliveryId, secret, eventType, sequence }: DeliveryRequest,
  at: Date,
  body: Buffer,
): string[] {
  const timestamp = Math.floor(at.getTime() / 1000);
  // prettier-ignore
  return [
    'content-type', 'application/json',
    'user-agent', USER_AGENT,
    'x-service-event', eventType,
    'x-service-signature', serviceSignature(secret, body),
    'x-service-delivery', deliveryId,
    'webhook-id', deliveryId,
    'webhook-timestamp', String(timestamp),
    'webhook-signature', standardSignature(secret, deliveryId, timestamp, body),
    ...(sequence === null ? [] : ['x-service-sequence', sequence]),
  ];
}
