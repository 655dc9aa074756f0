import { AddressInfo, connect, createServer, Socket } from 'node:net';
import { waitFor } from '../support/wait';

const CHECK_EVERY_MS = 200;
/** Time of a check: a process on a busy machine answers late, but is not left out. */
const CHECK_TIMEOUT_MS = 5_000;
/** Time for a process that has just been started. */
const READY_MS = 60_000;

interface Member {
  url: string;
  isReady: boolean;
  isBeingAsked: boolean;
}

/**
 * Balances connections like a cloud's network balancer: each connection goes in turn to an API process whose
 * `/health/ready` was 200 at the last check. The balancer never repeats a request: a client without a process
 * loses the connection.
 */
export class Balancer {
  /** Number of connections that found no process, or a process that refused them. */
  lost = 0;
  private readonly members = new Map<string, Member>();
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.join(client));
  private readonly checks: NodeJS.Timeout;
  private turn = 0;

  /**
   * Makes a balancer without processes.
   * @param noticesRefusals whether a process that refuses a connection is left out until its next check
   */
  private constructor(private readonly noticesRefusals: boolean) {
    this.checks = setInterval(() => {
      for (const member of this.members.values()) void this.check(member);
    }, CHECK_EVERY_MS);
  }

  static async start({ noticesRefusals = true } = {}): Promise<Balancer> {
    const balancer = new Balancer(noticesRefusals);
    await new Promise<void>((resolve) => balancer.server.listen(0, '127.0.0.1', resolve));
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Settles when the process gets connections. */
  async add(url: string): Promise<void> {
    const member = { url, isReady: false, isBeingAsked: false };
    this.members.set(url, member);
    await waitFor(`${url} to be ready`, () => member.isReady, READY_MS);
  }

  /** Removes a process that has ended. */
  remove(url: string): void {
    this.members.delete(url);
  }

  async stop(): Promise<void> {
    clearInterval(this.checks);
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async check(member: Member): Promise<void> {
    if (member.isBeingAsked) return;
    member.isBeingAsked = true;
    member.isReady = await isReady(member.url);
    member.isBeingAsked = false;
  }

  private join(client: Socket): void {
    const member = this.next();
    if (!member) {
      this.lost += 1;
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(member.url);
    const server = connect(Number(port), hostname);
    const refused = () => {
      this.lost += 1;
      if (this.noticesRefusals) member.isReady = false;
    };
    server.once('error', refused).once('connect', () => server.off('error', refused));
    this.pass(client, server);
    this.pass(server, client);
  }

  private next(): Member | undefined {
    const ready = [...this.members.values()].filter(({ isReady }) => isReady);
    return ready[this.turn++ % ready.length];
  }

  /** Passes on what one end has written before the connection ends. */
  private pass(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.pipe(to);
    from.on('error', () => undefined);
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroySoon();
    });
  }
}

/** Reports whether a process is ready, as a load balancer asks. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
