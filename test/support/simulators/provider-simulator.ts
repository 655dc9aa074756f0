import { createServer, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { forgetStop, stopAtEnd } from '../stop-at-end';
import { readMultipart } from './simulated-files';

/** A call that the simulated provider received. */
export interface SimulatedCall {
  method: string;
  /** Path without the query. */
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  /** Parsed JSON, the fields of a multipart body, or text if it is neither. */
  body: any;
  rawBody: string;
}

export interface ProviderResponse {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** File of a customer that the provider hands out. */
export interface HandedOutFile {
  bytes: Buffer;
  type: string;
  /** Status of the answer, 200 by default; another one hands out nothing. */
  status?: number;
  /** Address to which the answer leads instead. */
  location?: string;
  /** Whether the connection breaks in the middle of the bytes. */
  isCut?: boolean;
}

/** A failure of a call that sends a message. */
export type Trouble =
  /** Refuses the message. */
  | { kind: 'refusal'; response: ProviderResponse }
  /** Accepts the message (unless `lost`), then resets the connection. */
  | { kind: 'reset'; lost?: boolean }
  /** Accepts the message, and responds after `ms`, or never without it. */
  | { kind: 'slow'; ms?: number };

/** A provider on a local port. It follows the documented contract, records calls, and fails on request. */
export abstract class ProviderSimulator {
  /** All calls so far, including refused ones. */
  readonly calls: SimulatedCall[] = [];
  /** Files of customers by the path at which they are handed out. */
  readonly handedOut = new Map<string, HandedOutFile>();
  /** Origin that replaces the one of hooks, because a test's service has no known port before it listens. */
  hookOrigin: string | null = null;

  /**
   * Milliseconds to wait after each chunk of a body with a file; `Infinity` to read no further. Null to read
   * at once.
   */
  pauseInUploads: number | null = null;
  /** Number of bodies with files whose bytes have begun to arrive. */
  uploadsBegun = 0;

  private readonly server = createServer((request, response) => this.receive(request, response));
  private readonly upcoming: Trouble[] = [];
  private readonly upcomingOfUploads: Trouble[] = [];
  private lasting: Trouble | null = null;

  /**
   * Starts the simulator.
   * @param port 0 for any free one
   */
  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return stopAtEnd(this, () => this.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Makes the next calls that send a message fail, each with one of these. */
  troubleNext(...troubles: Trouble[]): void {
    this.upcoming.push(...troubles);
  }

  /** Makes the next calls that upload a file fail, each with one of these. */
  troubleNextUpload(...troubles: Trouble[]): void {
    this.upcomingOfUploads.push(...troubles);
  }

  /** Makes every call that sends a message fail like this, until `recover`. */
  trouble(trouble: Trouble): void {
    this.lasting = trouble;
  }

  recover(): void {
    this.lasting = null;
    this.upcoming.length = 0;
    this.upcomingOfUploads.length = 0;
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** Processes a call without trouble. */
  protected abstract answer(call: SimulatedCall): ProviderResponse | Promise<ProviderResponse>;

  /** Reports whether a call sends a message: only such calls can fail with trouble. */
  protected abstract isSend(call: SimulatedCall): boolean;

  /** Reports whether a call uploads a file without sending it. */
  protected isUpload(_call: SimulatedCall): boolean {
    return false;
  }

  /** Calls a hook. Returns the status of its response. */
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
    const isUpload = request.headers['content-type']?.startsWith('multipart/') ?? false;
    if (isUpload) this.uploadsBegun += 1;
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isUpload) this.pauseUpload(request);
    });
    // Callers may disconnect.
    request.on('error', () => undefined);
    request.on('end', () => void this.respond(callOf(request, Buffer.concat(chunks)), response));
  }

  private pauseUpload(request: IncomingMessage): void {
    if (this.pauseInUploads === null) return;
    request.pause();
    if (this.pauseInUploads < Infinity) setTimeout(() => request.resume(), this.pauseInUploads).unref();
  }

  private async respond(call: SimulatedCall, response: ServerResponse): Promise<void> {
    this.calls.push(call);
    const file = call.method === 'GET' ? this.handedOut.get(call.path) : undefined;
    if (file) return handOut(response, file);
    const trouble = this.troubleOf(call);
    if (trouble?.kind === 'refusal') return write(response, trouble.response);
    if (trouble?.kind === 'reset') {
      if (!trouble.lost) await this.answer(call);
      response.socket?.resetAndDestroy();
      return;
    }
    const answer = await this.answer(call);
    if (trouble?.kind !== 'slow') return write(response, answer);
    if (trouble.ms !== undefined) setTimeout(() => write(response, answer), trouble.ms).unref();
  }

  private troubleOf(call: SimulatedCall): Trouble | null {
    if (this.isUpload(call)) return this.upcomingOfUploads.shift() ?? null;
    return this.isSend(call) ? (this.upcoming.shift() ?? this.lasting) : null;
  }
}

function callOf(request: IncomingMessage, bytes: Buffer): SimulatedCall {
  const type = request.headers['content-type'] ?? '';
  const isMultipart = type.startsWith('multipart/');
  const rawBody = isMultipart ? '' : bytes.toString();
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
  return {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: isMultipart ? readMultipart(type, bytes) : parsed(rawBody),
    rawBody,
  };
}

function handOut(
  response: ServerResponse,
  { bytes, type, status = 200, location, isCut }: HandedOutFile,
): void {
  const headers = { 'content-type': type, 'content-length': bytes.length, ...(location && { location }) };
  response.writeHead(status, headers);
  if (!isCut) return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.resetAndDestroy());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function write(response: ServerResponse, { status, body, headers }: ProviderResponse): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
