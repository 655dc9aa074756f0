import { AddressInfo, connect, createServer, Server, Socket } from 'node:net';
import { forgetStop, stopAtEnd } from './stop-at-end';

/** SQLSTATEs with which PostgreSQL ends a connection, whether or not it was in use. */
const ENDS_THE_CONNECTION = /^(28|3D|57P)/;
/** Length in bytes of a message's type, and of the length that follows it. */
const TYPE = 1;
const LENGTH = 4;

interface Message {
  /** Type of the message; empty for the first one of a connection, which has none. */
  type: string;
  /** Whole message, as it was sent. */
  bytes: Buffer;
}

interface Statement {
  /** Index of its first message in the group that a Sync ends. */
  start: number;
  text: string;
}

/**
 * Proxy before PostgreSQL that speaks its protocol: it answers new connections or chosen statements with an
 * SQLSTATE.
 */
export class PostgresProxy {
  private readonly sockets = new Set<Socket>();
  /** Number of connections that were refused, and of statements that failed. */
  refused = 0;
  failed = 0;
  private refusal: string | null = null;
  private failure: { code: string; concerns: RegExp } | null = null;
  private readonly server: Server = createServer((client) => this.join(client));

  private constructor(private readonly target: URL) {}

  /** Starts a proxy before the server of an address such as `postgresql://user@host:port/name`. */
  static async start(address: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(new URL(address));
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return stopAtEnd(proxy, () => proxy.stop());
  }

  /** Address of the server by way of this proxy. */
  get address(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target.href), { host: `127.0.0.1:${port}` }).href;
  }

  /** Answers each new connection with an SQLSTATE instead of a login, and ends the open ones. */
  refuseConnections(code: string, { keepsOpen = false } = {}): void {
    this.refused = 0;
    this.refusal = code;
    if (!keepsOpen) for (const socket of this.sockets) socket.destroy();
  }

  /** Answers statements whose text matches with an SQLSTATE. */
  failStatements(code: string, concerns = /(?:)/): void {
    this.failed = 0;
    this.failure = { code, concerns };
  }

  mend(): void {
    this.refusal = null;
    this.failure = null;
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      // An error at one end closes both.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.end();
      });
    }
    server.on('data', (chunk) => client.write(chunk));
    const read = messageReader();
    const texts = new Map<string, string>();
    let group: Message[] = [];
    client.on('data', (chunk) => {
      for (const message of read(chunk)) {
        if (message.type === '') this.begin(client, server, message);
        else {
          group.push(message);
          // Query, Sync and Terminate end a group of statements; a password or another message stands alone.
          if ('PBDEHC'.includes(message.type)) continue;
          this.forward(client, server, group, statementsOf(group, texts));
          group = [];
        }
      }
    });
  }

  private begin(client: Socket, server: Socket, { bytes }: Message): void {
    if (!this.refusal) return void server.write(bytes);
    this.refused += 1;
    end(client, server, this.refusal);
  }

  private forward(client: Socket, server: Socket, group: Message[], statements: Statement[]): void {
    const { code, concerns } = this.failure ?? {};
    const failing = code ? statements.find(({ text }) => concerns!.test(text)) : undefined;
    for (const { bytes } of group.slice(0, failing?.start)) server.write(bytes);
    if (!failing) return;
    this.failed += 1;
    if (ENDS_THE_CONNECTION.test(code!)) end(client, server, code!);
    // PostgreSQL itself fails in the statement's place, so that the state of the transaction is right. The
    // rest of the group is left out, as PostgreSQL skips it.
    else server.write(query(`DO $$ BEGIN RAISE 'failed on purpose' USING ERRCODE = '${code}'; END $$`));
  }
}

function end(client: Socket, server: Socket, code: string): void {
  client.end(errorResponse(code));
  server.destroy();
}

/** Returns a function that turns the chunks of a client's stream into whole messages. */
function messageReader(): (chunk: Buffer) => Message[] {
  let rest = Buffer.alloc(0);
  let typeLength = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      if (rest.length < typeLength + LENGTH) return messages;
      const length = typeLength + rest.readInt32BE(typeLength);
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      messages.push({ type: bytes.toString('latin1', 0, typeLength), bytes });
      rest = rest.subarray(length);
      typeLength = TYPE;
    }
  };
}

/** Returns the statements of a group. Remembers the texts of named statements. */
function statementsOf(group: Message[], texts: Map<string, string>): Statement[] {
  const statements: Statement[] = [];
  let start: number | null = null;
  for (const [index, { type, bytes }] of group.entries()) {
    const [first = '', second = ''] = bytes.toString('utf8', TYPE + LENGTH).split('\0');
    if (type === 'Q') statements.push({ start: index, text: first });
    if (type === 'P') {
      texts.set(first, second);
      start ??= index;
    }
    // Bind names the portal, and then the statement.
    if (type === 'B') {
      statements.push({ start: start ?? index, text: texts.get(second) ?? '' });
      start = null;
    }
  }
  return statements;
}

function query(sql: string): Buffer {
  return message('Q', `${sql}\0`);
}

function errorResponse(code: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${code}\0Mfailed on purpose\0\0`);
}

function message(type: string, content: string): Buffer {
  const bytes = Buffer.from(`${type}----${content}`);
  bytes.writeInt32BE(bytes.length - TYPE, TYPE);
  return bytes;
}
