import { isIP } from 'node:net';
import { connect, createSecureContext, rootCertificates, SecureContext, TLSSocket } from 'node:tls';
import { FAULTS } from '../common/fault-texts';
import { makeFault } from '../common/error-texts';
import { Memo } from '../common/memo';
import { AddressPolicy } from './address-policy';
import { HostResolver } from './host-resolver';
import { codeOf, tlsFault } from './tls-faults';

/** Largest number of addresses that one connection tries. Each gets an equal share of the remaining time. */
const MAX_ADDRESSES_TRIED = 4;
const MAX_SESSIONS = 500;

type SetupStage = 'lookup' | 'connect' | 'tls' | 'ready';

/** Returns the error message of an attempt that timed out at this stage, for the workspace's people. */
export function timeoutMessage(stage: SetupStage): string {
  return FAULTS[`no_answer_${stage}`];
}

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

/** Permission to begin an attempt. It ends after about a second, and can be renewed. */
export interface StartPermit {
  isOver(): boolean;
  /** Renews the permission if the endpoint has not changed. Returns whether the request may be sent. */
  renew(): Promise<boolean>;
}

/** Error that ends an attempt before its first byte, because its permission to begin has ended. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

export class ConnectionSetup {
  stage: SetupStage | null = null;
  lookupMs: number | null = null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  private stepStartedAt = 0;

  /**
   * Creates the record of a connection's setup: its stage and the durations of its stages.
   * @param deadline latest end of the setup, by `performance.now()`
   * @param permit permission that is renewed if it has ended when the connection is open
   */
  constructor(
    private readonly deadline: number,
    readonly permit?: StartPermit,
  ) {}

  remainingMs(): number {
    return Math.max(0, this.deadline - performance.now());
  }

  enterStage(stage: SetupStage): void {
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
  /** PEM certificates of authorities that are trusted in addition to Node's. */
  extraCa?: string;
}

/** Host, port and origin of an endpoint's URL. */
export interface Receiver {
  /** Name or IP literal, an IPv6 one without brackets. */
  hostname: string;
  port: number;
  origin: string;
}

/**
 * Opens TLS connections to receivers. It resolves a host name once, checks all its addresses, and connects to
 * one of them, so that no second lookup can return another address. It checks IP literals itself, because
 * Node makes no lookup for them. TLS verifies the host name.
 */
export class VettedConnector {
  private readonly secureContext: SecureContext;
  /** TLS sessions of receivers whose certificates were verified, by origin. */
  private readonly sessions = new Memo<Buffer>(MAX_SESSIONS);
  private connections = 0;

  constructor(private readonly options: VettedConnectorOptions) {
    const { extraCa } = options;
    // Created once, because reading all the authorities' certificates takes milliseconds.
    this.secureContext = createSecureContext({
      minVersion: 'TLSv1.2',
      ...(extraCa === undefined ? {} : { ca: [...rootCertificates, extraCa] }),
    });
  }

  /** Number of connections that are open or being opened. */
  get openConnections(): number {
    return this.connections;
  }

  /**
   * Opens a connection, and then renews the permission in `setup` if that has ended.
   * @throws StartRefused if the permission cannot be renewed
   */
  async open(receiver: Receiver, setup: ConnectionSetup): Promise<TLSSocket> {
    const socket = await this.openToAny(receiver, setup);
    if (setup.permit?.isOver()) await renew(setup.permit, socket);
    return socket;
  }

  private async openToAny(receiver: Receiver, setup: ConnectionSetup): Promise<TLSSocket> {
    const addresses = await this.vettedAddresses(receiver.hostname, setup);
    const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
    let failure: unknown;
    for (const [index, address] of tried.entries()) {
      try {
        return await this.openTo(address, receiver, setup, setup.remainingMs() / (tried.length - index));
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  private async vettedAddresses(hostname: string, setup: ConnectionSetup): Promise<string[]> {
    setup.enterStage('lookup');
    const addresses = isIP(hostname) === 0 ? await this.lookup(hostname, setup) : [hostname];
    setup.lookupMs = setup.stepMs;
    this.options.policy.vet(hostname, addresses);
    return addresses;
  }

  private async lookup(hostname: string, setup: ConnectionSetup): Promise<string[]> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timeout('lookup')), setup.remainingMs());
    });
    try {
      return await Promise.race([this.options.resolver.resolve(hostname), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  private openTo(
    address: string,
    { hostname, port, origin }: Receiver,
    setup: ConnectionSetup,
    timeoutMs: number,
  ): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      setup.enterStage('connect');
      const socket = connect({
        host: address,
        port,
        ...(isIP(hostname) === 0 && { servername: hostname }),
        secureContext: this.secureContext,
        session: this.sessions.find(origin),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true, // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
      }).setNoDelay(true);
      const timer = setTimeout(() => {
        socket.destroy(timeout(setup.stage === 'tls' ? 'tls' : 'connect'));
      }, timeoutMs);
      const onError = (error: Error) => reject(failureAt(setup.stage === 'tls' ? 'tls' : 'connect', error));
      this.connections += 1;
      socket.once('close', () => {
        clearTimeout(timer);
        this.connections -= 1;
      });
      socket.once('connect', () => {
        setup.connectMs = setup.stepMs;
        setup.enterStage('tls');
      });
      socket.on('error', onError);
      socket.once('secureConnect', () => {
        clearTimeout(timer);
        this.rememberSessions(origin, socket);
        setup.tlsMs = setup.stepMs;
        setup.enterStage('ready');
        resolve(socket);
      });
    });
  }

  /**
   * Stores TLS sessions for later connections. Call it after the handshake has verified the certificate: Node
   * does not check the host name of a resumed session.
   */
  private rememberSessions(origin: string, socket: TLSSocket): void {
    const session = socket.getSession();
    if (session) this.sessions.set(origin, session);
    socket.on('session', (later) => this.sessions.set(origin, later));
  }
}

async function renew(permit: StartPermit, socket: TLSSocket): Promise<void> {
  const mayStart = await permit.renew();
  if (!mayStart) {
    socket.destroy();
    throw new StartRefused();
  }
  if (socket.destroyed) throw new ConnectionFailure('tls', false, FAULTS.tls_closed);
}

function timeout(stage: 'lookup' | 'connect' | 'tls'): ConnectionFailure {
  return new ConnectionFailure(stage, true, timeoutMessage(stage));
}

function failureAt(stage: 'connect' | 'tls', error: Error): ConnectionFailure {
  if (error instanceof ConnectionFailure) return error;
  // Node's message of a failed connect contains the address, which the workspace must not see.
  const { message } = stage === 'tls' ? tlsFault(error) : makeFault('no_connection', { code: codeOf(error) });
  return new ConnectionFailure(stage, codeOf(error) === 'ETIMEDOUT', message, error);
}
