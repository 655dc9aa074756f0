import { createServer, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';

/** A call as the simulated provider got it. */
export interface ProviderCall {
  method: string;
  /** Without the query. */
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  /** The parsed JSON, or the text where it is none. */
  body: any;
  rawBody: string;
}

export interface ProviderReply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** What a call that sends a message may meet instead of the ordinary answer. */
export type Trouble =
  /** Refused like this; nothing is sent. */
  | { kind: 'reply'; reply: ProviderReply }
  /** The message is taken (unless `lost`), and the connection reset instead of an answer. */
  | { kind: 'reset'; lost?: boolean }
  /** The message is taken, and the answer comes so much later; without `ms`, never. */
  | { kind: 'slow'; ms?: number };

/**
 * A provider on a local port: it speaks the documented contract, keeps what it was asked, and gets into trouble when
 * told to. Needs nothing but Node.
 */
export abstract class ProviderSimulator {
  /** Every call so far, refused ones too. */
  readonly calls: ProviderCall[] = [];
  /** Where hooks are called instead of the registered address's own origin: tests know theirs only once it listens. */
  hookOrigin: string | null = null;

  private readonly server = createServer((request, response) => this.receive(request, response));
  private readonly upcoming: Trouble[] = [];
  private lasting: Trouble | null = null;

  /** @param port 0 for any free one */
  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The next calls that send a message meet these, one each. */
  troubleNext(...troubles: Trouble[]): void {
    this.upcoming.push(...troubles);
  }

  /** Every call that sends a message meets this, until `recover`. */
  trouble(trouble: Trouble): void {
    this.lasting = trouble;
  }

  recover(): void {
    this.lasting = null;
    this.upcoming.length = 0;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** The ordinary answer, and whatever comes of the call. */
  protected abstract answer(call: ProviderCall): ProviderReply;

  /** Whether a call sends a message, and so can meet trouble. */
  protected abstract isSend(call: ProviderCall): boolean;

  /** Calls a hook, as the provider does. Resolves with the status it answered. */
  protected async callHook(url: string, body: string | Buffer, headers: Record<string, string>) {
    const { pathname, search, origin } = new URL(url);
    const response = await fetch(`${this.hookOrigin ?? origin}${pathname}${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Whoever calls may hang up in the middle.
    request.on('error', () => undefined);
    request.on('end', () => this.respond(callOf(request, Buffer.concat(chunks).toString()), response));
  }

  private respond(call: ProviderCall, response: ServerResponse): void {
    this.calls.push(call);
    const trouble = this.isSend(call) ? (this.upcoming.shift() ?? this.lasting) : null;
    if (trouble?.kind === 'reply') return write(response, trouble.reply);
    if (trouble?.kind === 'reset') {
      if (!trouble.lost) this.answer(call);
      response.socket?.resetAndDestroy();
      return;
    }
    const reply = this.answer(call);
    if (trouble?.kind !== 'slow') return write(response, reply);
    if (trouble.ms !== undefined) setTimeout(() => write(response, reply), trouble.ms).unref();
  }
}

function callOf(request: IncomingMessage, rawBody: string): ProviderCall {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
  return {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: parsed(rawBody),
    rawBody,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function write(response: ServerResponse, { status, body, headers }: ProviderReply): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
