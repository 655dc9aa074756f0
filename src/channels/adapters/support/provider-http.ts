import http, { Agent as HttpAgent, ClientRequest, IncomingMessage } from 'node:http';
import https, { Agent as HttpsAgent } from 'node:https';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosInstance, AxiosRequestConfig } from 'axios';
import { AppError } from '../../../common/app-error';
import { ProviderVariable } from '../../../common/channel-descriptors';
import { ProviderFault } from '../channel-adapter';
import { numberOf } from './provider-values';

/** From the DNS lookup to the end of the response. A message's lease is longer. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SOCKETS = 500;
/** Shorter than servers keep idle connections, so that none closes one while a message is written to it. */
const IDLE_MS = 4_000;
const MAX_WAIT_SECONDS = 24 * 3600;

export interface AnsweredCall {
  kind: 'answered';
  status: number;
  headers: Record<string, unknown>;
  /** Parsed JSON, or text if it is no JSON. */
  body: unknown;
}

export type ProviderAnswer =
  | AnsweredCall
  /** No byte of the request was written, so a retry can't send twice. */
  | { kind: 'unreached'; fault: ProviderFault }
  /** The request was written, at least in part, so its outcome is unknown. */
  | { kind: 'unanswered'; fault: ProviderFault };

/** Calls providers over keep-alive connections. Never throws: every status is an answer. */
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

  async call(request: AxiosRequestConfig, timeoutMs = TIMEOUT_MS): Promise<ProviderAnswer> {
    const signal = AbortSignal.timeout(timeoutMs);
    const transport = new WatchedTransport();
    try {
      const { status, headers, data } = await this.axios.request<unknown>({ ...request, signal, transport });
      return { kind: 'answered', status, headers: { ...headers }, body: data };
    } catch (error) {
      const kind = transport.hasConnected ? 'unanswered' : 'unreached';
      const code = (error as { code?: string }).code ?? 'UNKNOWN';
      return { kind, fault: { providerCode: null, message: faultOf(kind, signal.aborted, timeoutMs, code) } };
    }
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }
}

/**
 * Records when bytes of the request can leave: once it is connected and, over https, the certificate is accepted. A
 * failure before that has sent nothing.
 */
class WatchedTransport {
  hasConnected = false;

  request(options: https.RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest {
    const isSecure = options.protocol === 'https:';
    const request = (isSecure ? https : http).request(options, onResponse);
    const connected = () => (this.hasConnected = true);
    // A reused connection emits no connect event.
    request.once('socket', (socket) => {
      if (request.reusedSocket || (!isSecure && !socket.connecting)) connected();
      else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
    });
    return request;
  }
}

/** Only the code: the error's own message may quote an address with a token. */
function faultOf(
  kind: 'unreached' | 'unanswered',
  timedOut: boolean,
  timeoutMs: number,
  code: string,
): string {
  const cause = timedOut ? `nothing within ${timeoutMs / 1000} s` : code;
  return kind === 'unreached'
    ? `The provider can't be reached: ${cause}.`
    : `The provider has not answered: ${cause}.`;
}

/**
 * The error for an operator's call that got no answer. It names the origin only: the path may hold a token.
 * @param variable sets the provider's address
 */
export function providerUnavailable(
  { message }: ProviderFault,
  url: string,
  variable: ProviderVariable,
): AppError {
  return new AppError('UNAVAILABLE', `${message} Its address is ${new URL(url).origin} (${variable}).`);
}

/** From a provider's seconds (such as `Retry-After`) to milliseconds. 0 for anything unreadable. */
export function retryAfterMs(seconds: unknown): number {
  return Math.min(Math.max(numberOf(seconds) ?? 0, 0), MAX_WAIT_SECONDS) * 1000;
}
