import { isIP, Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector } from 'undici';
import { FAULTS, makeFault } from '../../common/error-texts';
import { AddressPolicy } from './address-policy';
import { HostResolver } from './host-resolver';
import { StartPermit, StartRefused } from './start-permit';

/**
 * Number of addresses that are tried for one connection, so that each gets a fair share of the remaining
 * time.
 */
const MAX_ADDRESSES_TRIED = 4;

export type SetupStage = 'lookup' | 'connect' | 'tls' | 'ready';

/** Returns the message of a timeout, for the customer. */
export function timeoutMessage(stage: SetupStage): string {
  return FAULTS[`no_answer_${stage}`];
}

/** Failure to open a connection at one of its stages. */
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

export class ConnectionSetup {
  stage: SetupStage | null = null;
  lookupMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  private stepStartedAt = 0;

  /**
   * Begins the setup of a connection.
   * @param deadline by `performance.now()`
   * @param permit is renewed once the connection is open, if it has ended by then
   */
  constructor(
    private readonly deadline: number,
    readonly permit?: StartPermit,
  ) {}

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
  /** PEM certificates that are trusted beside the usual authorities. */
  extraCa?: string;
}

/** Function of undici that opens a connection. It returns the socket too, which undici's type omits. */
type OpenTls = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

/**
 * Resolves a name once for a connection, vets all its addresses, and connects to one of them, so that no
 * second lookup can return another address. It vets IP literals too, for which Node calls no lookup. TLS
 * still checks the name.
 */
export class VettedConnector {
  private readonly policy: AddressPolicy;
  private readonly resolver: HostResolver;
  private readonly openTls: OpenTls;
  private observed: ConnectionSetup | null = null;
  private connections = 0;
  /** Setups of requests that undici has not put on a connection yet, with their hosts. */
  private readonly waiting = new Map<ConnectionSetup, string>();

  constructor({ policy, resolver, extraCa }: VettedConnectorOptions) {
    this.policy = policy;
    this.resolver = resolver;
    this.openTls = buildConnector({
      // Created once: reading all the authorities' certificates takes milliseconds.
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(extraCa === undefined ? {} : { ca: [...rootCertificates, extraCa] }),
      }),
      allowH2: false,
      timeout: 0, // Each try has a share of the remaining time instead.
    }) as OpenTls;
  }

  /** Number of connections that are open or being opened. */
  get openConnections(): number {
    return this.connections;
  }

  /**
   * Calls `dispatch`, which passes a request for `host` (with the port, as in its URL) to undici. A
   * connection that undici opens for it uses `setup` and its deadline. Call `release` when the request is on
   * a connection or has ended.
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
    this.openForRequest(options).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

  /**
   * Opens a connection for a waiting request. undici connects when a request is dispatched, or later, when a
   * kept connection was lost before the request was sent. For an aborted request it would also open a
   * connection, only to drop it; that one is refused, because otherwise each timeout would cost the receiver
   * one more connection.
   */
  private async openForRequest(options: buildConnector.Options): Promise<Socket> {
    const setup = this.observed ?? this.waitingFor(options.host);
    if (!setup) throw new ConnectionFailure('connect', false, FAULTS.connection_lost);
    const socket = await this.open(options, setup);
    if (setup.permit?.isOver()) await renew(setup.permit, socket);
    return socket;
  }

  private waitingFor(host: string | undefined): ConnectionSetup | undefined {
    for (const [setup, waitingHost] of this.waiting) {
      if (setup.stage === null && waitingHost === host) return setup;
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
        // The failure of the first address, as the most likely one, is reported.
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
      this.connections += 1;
      socket.once('close', () => (this.connections -= 1));
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

/** Renews a permission before undici has the connection: a request that it refuses is never written. */
async function renew(permit: StartPermit, socket: Socket): Promise<void> {
  const onError = () => undefined; // undici does not listen yet
  socket.on('error', onError);
  const mayStart = await permit.renew();
  if (!mayStart) {
    socket.destroy();
    throw new StartRefused();
  }
  if (socket.destroyed) throw new ConnectionFailure('tls', false, FAULTS.tls_closed);
  socket.off('error', onError);
}

function timeout(stage: 'lookup' | 'connect' | 'tls'): ConnectionFailure {
  return new ConnectionFailure(stage, true, timeoutMessage(stage));
}

function failureAt(stage: 'connect' | 'tls', error: Error): ConnectionFailure {
  if (error instanceof ConnectionFailure) return error;
  // Node's message of a failed connect contains the address, which the customer must not see.
  const { message } =
    stage === 'tls'
      ? makeFault('tls_failed', { detail: error.message })
      : makeFault('no_connection', { code: codeOf(error) });
  return new ConnectionFailure(stage, codeOf(error) === 'ETIMEDOUT', message, error);
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name;
}
