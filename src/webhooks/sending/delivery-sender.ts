import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Memo } from '../../common/memo';
import { AddressPolicy } from '../../outgoing/address-policy';
import { AttemptOutcome } from './attempt-outcome';
import { ConnectionPool, ConnectionPoolOptions } from './connection-pool';
import { DeliveryExchange, Keep } from './delivery-exchange';
import { bodyOf, headersOf, RequestContent, timestampOf, webhookIdOf } from './delivery-request';
import { HostResolver } from '../../outgoing/host-resolver';
import { ReceiverConnection } from './receiver-connection';
import {
  StartPermit,
  Receiver,
  VettedConnector,
  VettedConnectorOptions,
} from '../../outgoing/vetted-connector';
import { serviceSignature, SigningSecrets, standardSignature } from './signature';

const HTTPS_PORT = 443;
const MAX_ADDRESSES = 10_000;

interface Address extends Receiver {
  /** Host and port, as in the Host header. */
  host: string;
  path: string;
}

export interface DeliveryRequest extends RequestContent, SigningSecrets {
  url: string;
  /** Whether the outcome of a success contains the response headers. */
  keepsHeaders?: boolean;
  /** Time of the attempt in body and headers; now by default. */
  at?: Date;
}

export interface DeliverySenderOptions extends Partial<VettedConnectorOptions & ConnectionPoolOptions> {
  policy: AddressPolicy;
  /** Milliseconds from the DNS lookup to the end of the response; 10,000 by default. */
  timeoutMs?: number;
  /** Milliseconds to keep an idle connection; 4,000 by default. A Keep-Alive header overrides it. */
  connectionIdleMs?: number;
}

/** Sends signed POSTs over kept-alive connections, only to addresses that the policy permits. */
@Injectable()
export class DeliverySender implements OnApplicationShutdown {
  private readonly policy: AddressPolicy;
  private readonly connector: VettedConnector;
  private readonly connections: ConnectionPool;
  private readonly timeoutMs: number;
  private readonly connectionIdleMs: number;
  private readonly addresses = new Memo<Address>(MAX_ADDRESSES);
  private readonly running = new Set<Promise<unknown>>();
  private isClosed = false;

  constructor(options: DeliverySenderOptions) {
    this.policy = options.policy;
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.connectionIdleMs = options.connectionIdleMs ?? 4_000;
    this.connector = new VettedConnector({ resolver: new HostResolver(), ...options });
    this.connections = new ConnectionPool(this.connector, {
      maxAgeMs: 60_000,
      maxKept: Infinity,
      ...options,
    });
  }

  /**
   * Sends a request. It follows no redirect and uses no proxy. A failure of the receiver is an outcome; only
   * an internal error rejects.
   * @param permit permission to begin; if it ends before the first byte, the sender asks for a new one
   * @returns null if the sender got no new permission, and so has sent nothing
   */
  send(request: DeliveryRequest): Promise<AttemptOutcome>;
  send(request: DeliveryRequest, permit: StartPermit): Promise<AttemptOutcome | null>;
  send(request: DeliveryRequest, permit?: StartPermit): Promise<AttemptOutcome | null> {
    const at = request.at ?? new Date();
    const exchange = new DeliveryExchange(at, this.timeoutMs, permit, request.keepsHeaders);
    const { outcome } = exchange;
    const finish = () => this.running.delete(outcome);
    this.running.add(outcome);
    outcome.then(finish, finish);
    this.startExchange(exchange, request, at).catch((error: Error) => exchange.endWithError(error));
    return outcome;
  }

  private async startExchange(exchange: DeliveryExchange, request: DeliveryRequest, at: Date): Promise<void> {
    if (this.isClosed) throw new Error('The sender is closed');
    const address = this.addresses.get(request.url, () => this.parse(request.url));
    const body = Buffer.from(bodyOf(request, at));
    const headers = headersOf(request, at, signaturesOf(request, at, body));
    const keeps = this.connections.hasRoom;
    const post = {
      path: address.path,
      // oxfmt-ignore
      headers: [
        'host', address.host,
        'connection', keeps ? 'keep-alive' : 'close',
        ...headers,
        'content-length', String(body.length),
      ],
      body,
    };
    const keep: Keep = (free, keepMs) =>
      this.connections.keep(free, keeps ? (keepMs ?? this.connectionIdleMs) : 0);
    const sendOn = async (connecting: Promise<ReceiverConnection>) =>
      exchange.send(await connecting, post, keep, () => {
        const opening = this.connections.open(address, exchange.setup);
        sendOn(opening).catch((error: Error) => exchange.endWithError(error));
      });
    await sendOn(this.connections.connect(address, exchange.setup));
  }

  /** Checks a URL again, because the permitted networks may have changed since its last check. */
  private parse(address: string): Address {
    const { host, hostname, port, origin, pathname, search } = this.policy.parseEndpointUrl(address);
    return {
      host,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || HTTPS_PORT),
      origin,
      path: pathname + search,
    };
  }

  get openConnections(): number {
    return this.connector.openConnections;
  }

  /** Waits for the running deliveries, then closes every connection. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled(this.running);
    this.connections.close();
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
  // Standard Webhooks allow several signatures, so the previous secret signs as well in its grace period.
  const standard = standardSignature(secret, webhookId, timestamp, body);
  const previousStandard = previous
    ? ` ${standardSignature(previous.secret, webhookId, timestamp, body)}`
    : '';
  return {
    service: serviceSignature(previous?.signsService ? previous.secret : secret, body),
    standard: standard + previousStandard,
  };
}
