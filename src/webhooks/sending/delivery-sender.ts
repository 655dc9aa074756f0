import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { AddressPolicy } from './address-policy';
import { AttemptOutcome } from './attempt-outcome';
import { DeliveryExchange } from './delivery-exchange';
import { HostResolver } from './host-resolver';
import { serviceSignature, SigningSecrets, standardSignature } from './signature';
import { VettedConnector } from './vetted-connector';

const USER_AGENT = 'Service-Webhooks/1.0';
const MAX_HEADER_BYTES = 16 * 1024;

export interface DeliveryRequest extends SigningSecrets {
  deliveryId: string;
  url: string;
  eventType: string;
  /** The JSON text of the event's `data`. */
  data: string;
  /** The event's position in its conversation; null for an event of no conversation. */
  sequence: string | null;
}

export interface DeliverySenderOptions {
  /** Which addresses deliveries may reach. */
  policy: AddressPolicy;
  /** PEM certificates to trust beside the usual authorities. */
  extraCa?: string;
  resolver?: HostResolver;
  /** For the whole attempt, from the lookup to the end of the response. */
  timeoutMs?: number;
  /** An older connection takes no further request, so that its address is vetted again. */
  connectionMaxAgeMs?: number;
  /** How long an unused connection is kept, unless the receiver's Keep-Alive header says otherwise. */
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
    // Unlike the global one, this agent ignores the environment's proxies. It follows no redirects. The exchange limits
    // the time.
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

  /** A failure of the receiver is an outcome; only an internal error rejects. */
  send(request: DeliveryRequest): Promise<AttemptOutcome> {
    const at = new Date();
    const exchange = new DeliveryExchange(at, this.timeoutMs, this.connector);
    try {
      // Again: the rules or the operator's networks may have changed since the endpoint's creation.
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

  /** Receivers with an open connection. */
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

/** Built as text, so that the event's data is sent exactly as it was recorded. */
function envelope({ eventType, data }: DeliveryRequest, at: Date): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(eventType)},"deliveredAt":"${at.toISOString()}","data":${data}}`,
  );
}

function signedHeaders(
  { deliveryId, secret, previousSecret: previous, eventType, sequence }: DeliveryRequest,
  at: Date,
  body: Buffer,
): string[] {
  const timestamp = Math.floor(at.getTime() / 1000);
  // A receiver of Standard Webhooks accepts any one of several signatures. The second one is made only during a roll.
  const standard = standardSignature(secret, deliveryId, timestamp, body);
  const previousStandard = previous
    ? ` ${standardSignature(previous.secret, deliveryId, timestamp, body)}`
    : '';
  // prettier-ignore
  return [
    'content-type', 'application/json',
    'user-agent', USER_AGENT,
    'x-service-event', eventType,
    'x-service-signature', serviceSignature(previous?.signsService ? previous.secret : secret, body),
    'x-service-delivery', deliveryId,
    'webhook-id', deliveryId,
    'webhook-timestamp', String(timestamp),
    'webhook-signature', standard + previousStandard,
    ...(sequence === null ? [] : ['x-service-sequence', sequence]),
  ];
}
