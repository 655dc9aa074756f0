import http, { Agent as HttpAgent, ClientRequest, IncomingMessage } from 'node:http';
import https, { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosInstance, AxiosRequestConfig } from 'axios';
import { AppError } from '../../common/app-error';
import { ProviderVariable } from '../../common/channel-descriptors';
import { SendOutcome } from './channel-adapter';
import { ProviderFault } from './hook-events';
import { Multipart } from './multipart';
import { numberOf } from './provider-values';

/** Milliseconds that a call may take, DNS look-up included: less than a worker's lease of the message. */
const TIMEOUT_MS = 10_000;
/** Milliseconds without progress after which an upload ends. */
const STALLED_MS = 20_000;
/** Milliseconds that a provider may take for a file after its last byte: it may check or convert the file. */
export const FILE_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SOCKETS = 500;
/**
 * Milliseconds after which an idle connection is closed. Providers wait longer, so that they do not close a
 * connection on which a request is being written.
 */
const IDLE_MS = 4_000;
const MAX_WAIT_SECONDS = 24 * 3600;

export interface AnsweredCall {
  kind: 'answered';
  status: number;
  headers: Record<string, unknown>;
  /** Parsed JSON, or the text if it is not JSON. */
  body: unknown;
}

/** Call without a response. `unreached`: no byte was written; `unanswered`: bytes may have been written. */
interface UnansweredCall {
  kind: 'unreached' | 'unanswered';
  fault: ProviderFault;
}

export type ProviderAnswer = AnsweredCall | UnansweredCall;

export type ProviderCall = AxiosRequestConfig & { url: string };

/** Calls providers over keep-alive connections. Does not follow redirects. */
@Injectable()
export class ProviderHttp implements OnApplicationShutdown {
  private readonly agents = {
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: IDLE_MS }),
    httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: IDLE_MS }),
  };
  private readonly axios: AxiosInstance = axios.create({
    ...this.agents,
    proxy: false,
    maxRedirects: 0,
    maxContentLength: MAX_ANSWER_BYTES,
    responseType: 'json',
    transitional: { silentJSONParsing: true, clarifyTimeoutError: true },
    validateStatus: () => true,
  });

  /** Makes a call. Never throws: any HTTP status is `answered`, any failure is returned with its fault. */
  async call(request: ProviderCall, timeoutMs = TIMEOUT_MS): Promise<ProviderAnswer> {
    return this.request(request, AbortSignal.timeout(timeoutMs), timeoutMs);
  }

  /** Makes a call that streams a file. It may take long, but ends if no byte moves for 20 s. Never throws. */
  async upload(request: ProviderCall, multipart: Multipart, signal: AbortSignal): Promise<ProviderAnswer> {
    const stalled = new AbortController();
    const timer = setTimeout(() => stalled.abort(), STALLED_MS);
    const answerTimer = setTimeout(() => stalled.abort(), FILE_TIMEOUT_MS);
    const data = Readable.from(watched(multipart.content, timer, answerTimer), { objectMode: false });
    const headers = { ...request.headers, ...multipart.headers };
    try {
      const both = AbortSignal.any([signal, stalled.signal]);
      return await this.request({ ...request, headers, data }, both, FILE_TIMEOUT_MS);
    } finally {
      clearTimeout(timer);
      clearTimeout(answerTimer);
      data.destroy();
      multipart.content.destroy();
    }
  }

  private async request(
    request: ProviderCall,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<ProviderAnswer> {
    const transport = new WatchedTransport();
    try {
      const { status, headers, data } = await this.axios.request<unknown>({ ...request, signal, transport });
      return { kind: 'answered', status, headers: { ...headers }, body: data };
    } catch (error) {
      const kind = transport.hasConnected ? 'unanswered' : 'unreached';
      const code = (error as { code?: string }).code ?? 'UNKNOWN';
      const cause = signal.aborted ? `nothing within ${timeoutMs / 1000} s` : code;
      return { kind, fault: unansweredFault(kind, cause) };
    }
  }

  /**
   * Makes a call for an operator who connects an account.
   * @param variable environment variable that sets the provider's address, for the error message
   * @throws AppError UNAVAILABLE with the URL's origin only, because the path can contain a token
   */
  async require(request: ProviderCall, variable: ProviderVariable): Promise<AnsweredCall> {
    const answer = await this.call(request);
    if (answer.kind === 'answered') return answer;
    const { origin } = new URL(request.url);
    throw new AppError('UNAVAILABLE', `${answer.fault.message} Its address is ${origin} (${variable}).`);
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }
}

/** Hands on the bytes of an upload. Each chunk restarts both timers, and the last ends the first timer. */
async function* watched(
  content: Readable,
  timer: NodeJS.Timeout,
  answerTimer: NodeJS.Timeout,
): AsyncGenerator<Buffer> {
  for await (const chunk of content as AsyncIterable<Buffer>) {
    timer.refresh();
    answerTimer.refresh();
    yield chunk;
  }
  clearTimeout(timer);
  answerTimer.refresh();
}

/**
 * Records that the connection for a request is established, over https with the TLS handshake. Before that,
 * no byte of the request is written, so a retry is safe.
 */
class WatchedTransport {
  hasConnected = false;

  request(options: https.RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest {
    const isSecure = options.protocol === 'https:';
    const request = (isSecure ? https : http).request(options, onResponse);
    const connected = () => (this.hasConnected = true);
    // A reused connection was established before, and emits no connect event.
    request.once('socket', (socket) => {
      if (request.reusedSocket || (!isSecure && !socket.connecting)) connected();
      else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
    });
    return request;
  }
}

/**
 * Returns the fault of a call without a response.
 * @param cause the error's code, because its message can quote a URL with a token
 */
function unansweredFault(kind: UnansweredCall['kind'], cause: string): ProviderFault {
  const failure = kind === 'unreached' ? "can't be reached" : 'has not answered';
  return { providerCode: null, message: `The provider ${failure}: ${cause}.` };
}

/** Returns the outcome of a send request without a response. A retry is safe only after `unreached`. */
export function outcomeWithoutAnswer({ kind, fault }: UnansweredCall): SendOutcome {
  return { kind: kind === 'unreached' ? 'RETRY' : 'UNKNOWN', fault };
}

export function isSuccess({ status }: AnsweredCall): boolean {
  return status >= 200 && status < 300;
}

export function credentialsRefused(provider: string, { message }: ProviderFault): AppError {
  const answer = message.replace(/\.$/, '');
  return AppError.invalidBody('credentials', 'credentials_refused', { provider, answer });
}

/** Converts seconds to wait to milliseconds: at most a day, 0 if the value is not a number. */
export function retryAfterMs(seconds: unknown): number {
  return Math.min(Math.max(numberOf(seconds) ?? 0, 0), MAX_WAIT_SECONDS) * 1000;
}
