import { isIP, Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector } from 'undici';
import { AddressPolicy } from './address-policy';
import { HostResolver } from './host-resolver';

/** Of a name with many addresses no more are tried: each must get a fair share of the time left. */
const MAX_ADDRESSES_TRIED = 4;

export type SetupStage = 'lookup' | 'connect' | 'tls' | 'ready';

const MEANWHILE: Record<SetupStage, string> = {
  lookup: 'while resolving the name',
  connect: 'while connecting',
  tls: 'during the TLS handshake',
  ready: 'after the request was sent',
};

/** For the customer: how far an attempt had come when its time was up. */
export function timeoutMessage(stage: SetupStage): string {
  return `No answer in time (${MEANWHILE[stage]})`;
}

/** A connection that did not come about, and where it stopped. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';

  constructor(
    readonly stage: Exclude<SetupStage, 'ready'>,
    readonly timedOut: boolean,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** How the setting-up of one connection goes: by when it must be ready, and how long each step took. */
export class ConnectionSetup {
  stage: SetupStage | null = null;
  lookupMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  private stepStartedAt = 0;

  /** `deadline` is a moment of `performance.now()`. */
  constructor(private readonly deadline: number) {}

  remainingMs(): number {
    return Math.max(0, this.deadline - performance.now());
  }

  begin(stage: SetupStage): void {
    this.stage = stage;
    this.stepStartedAt = performance.now();
  }

  get stepMs(): number {
    return performance.now() - this.stepStartedAt;
  }
}

export interface VettedConnectorOptions {
  policy: AddressPolicy;
  resolver: HostResolver;
  /** PEM certificates trusted beside the usual authorities. */
  extraCa?: string;
}

/** The connector as undici makes it: it also returns the socket, though its type leaves that out. */
type OpenTls = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

/**
 * Makes the connections that webhooks travel on. A name is resolved once per connection, all its
 * addresses are vetted, and the connection is made to one of those addresses, so that no second
 * lookup can give another answer. An IP literal is vetted here too: Node calls no lookup for it.
 * The name stays the one that TLS asks for and checks.
 */
export class VettedConnector {
  private readonly policy: AddressPolicy;
  private readonly resolver: HostResolver;
  private readonly openTls: OpenTls;
  private observed: ConnectionSetup | null = null;
  /** Of requests handed to undici and not yet on a connection, with the host that each is for. */
  private readonly waiting = new Map<ConnectionSetup, string>();

  constructor({ policy, resolver, extraCa }: VettedConnectorOptions) {
    this.policy = policy;
    this.resolver = resolver;
    this.openTls = buildConnector({
      // Made once: reading all the authorities' certificates costs milliseconds.
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(extraCa === undefined ? {} : { ca: [...rootCertificates, extraCa] }),
      }),
      allowH2: false,
      timeout: 0, // Each try is timed here, by what is left of its connection's time.
    }) as OpenTls;
  }

  /**
   * Calls `dispatch`, which hands a request for `host` (as in its URL, with the port) to undici; a
   * connection opened for it reports to `setup` and keeps its deadline. `release` must follow, once the
   * request is on a connection or given up.
   */
  observe(setup: ConnectionSetup, host: string, dispatch: () => void): void {
    this.waiting.set(setup, host);
    this.observed = setup;
    try {
      dispatch();
    } finally {
      this.observed = null;
    }
  }

  release(setup: ConnectionSetup): void {
    this.waiting.delete(setup);
  }

  readonly connect: buildConnector.connector = (options, callback) => {
    this.openWanted(options).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

  /**
   * undici connects while a request is dispatched, or later, if a kept connection was lost before the
   * request got onto it. It also does so for a request already aborted, only to drop it: that would
   * trouble a receiver once more with every timeout, so a connection that nobody waits for is refused.
   */
  private async openWanted(options: buildConnector.Options): Promise<Socket> {
    const setup = this.observed ?? this.stranded(options.host);
    if (!setup)
      throw new ConnectionFailure('connect', false, 'The connection was lost before it could be used');
    return this.open(options, setup);
  }

  private stranded(host: string | undefined): ConnectionSetup | undefined {
    for (const [setup, wanted] of this.waiting) {
      if (setup.stage === null && wanted === host) return setup;
    }
    return undefined;
  }

  private async open(options: buildConnector.Options, setup: ConnectionSetup): Promise<Socket> {
    const addresses = await this.vettedAddresses(options.hostname, setup);
    const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
    let failure: unknown;
    for (const [index, address] of tried.entries()) {
      try {
        return await this.openTo(address, options, setup, setup.remainingMs() / (tried.length - index));
      } catch (error) {
        // The first address is the most likely one to be meant, so its failure tells the most.
        failure ??= error;
      }
    }
    throw failure;
  }

  private async vettedAddresses(hostname: string, setup: ConnectionSetup): Promise<string[]> {
    setup.begin('lookup');
    const addresses = isIP(hostname) === 0 ? await this.lookup(hostname, setup) : [hostname];
    setup.lookupMs = setup.stepMs;
    this.policy.vet(hostname, addresses);
    return addresses;
  }

  private async lookup(hostname: string, setup: ConnectionSetup): Promise<string[]> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timeout('lookup')), setup.remainingMs());
    });
    try {
      return await Promise.race([this.resolver.resolve(hostname), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  private openTo(
    address: string,
    options: buildConnector.Options,
    setup: ConnectionSetup,
    timeoutMs: number,
  ): Promise<Socket> {
    return new Promise((resolve, reject) => {
      setup.begin('connect');
      const servername = isIP(options.hostname) === 0 ? options.hostname : undefined;
      const socket = this.openTls({ ...options, hostname: address, servername }, (error, ready) => {
        clearTimeout(timer);
        if (error) return reject(failureAt(setup.stage === 'tls' ? 'tls' : 'connect', error));
        setup.tlsMs = setup.stepMs;
        setup.begin('ready');
        resolve(ready);
      });
      socket.once('connect', () => {
        setup.connectMs = setup.stepMs;
        setup.begin('tls');
      });
      const timer = setTimeout(() => {
        socket.destroy(timeout(setup.stage === 'tls' ? 'tls' : 'connect'));
      }, timeoutMs);
    });
  }
}

function timeout(stage: 'lookup' | 'connect' | 'tls'): ConnectionFailure {
  return new ConnectionFailure(stage, true, timeoutMessage(stage));
}

function failureAt(stage: 'connect' | 'tls', error: Error): ConnectionFailure {
  if (error instanceof ConnectionFailure) return error;
  // Node's own text of a failed connect names the address, which says more than its code only to us.
  const message = stage === 'tls' ? `TLS: ${error.message}` : `Could not connect (${codeOf(error)})`;
  return new ConnectionFailure(stage, codeOf(error) === 'ETIMEDOUT', message, error);
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name;
}
