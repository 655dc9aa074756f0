import http, { Agent as HttpAgent, ClientRequest, IncomingMessage } from 'node:http';
import https, { Agent as HttpsAgent } from 'node:https';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosInstance, AxiosRequestConfig } from 'axios';
import { AppError } from '../../common/app-error';
import { ProviderVariable } from '../../common/channel';
import { ProviderFault } from './channel-adapter';
import { numberOf } from './provider-json';

/** Name, connection, TLS, request and answer together. A message's lease outlives it. */
const ANSWER_WITHIN_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SOCKETS = 500;
/** Below what servers keep an idle connection for, so that none closes just as a message is written to it. */
const IDLE_MS = 4_000;
const MAX_WAIT_SECONDS = 24 * 3600;

export interface AnsweredCall {
  kind: 'answered';
  status: number;
  headers: Record<string, unknown>;
  /** The parsed JSON, or the text where it is none. */
  body: unknown;
}

/** What a provider answered, or why it did not. */
export type ProviderAnswer =
  | AnsweredCall
  /** No request has been written: trying again can't send anything twice. */
  | { kind: 'unreached'; fault: ProviderFault }
  /** A request has been written, at least in part, and nobody knows what became of it. */
  | { kind: 'unanswered'; fault: ProviderFault };

/** Calls providers over connections that are kept. Every status is an answer; it never throws. */
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

  /** @param withinMs how long it may take in all */
  async call(request: AxiosRequestConfig, withinMs = ANSWER_WITHIN_MS): Promise<ProviderAnswer> {
    const signal = AbortSignal.timeout(withinMs);
    const transport = new WatchedTransport();
    try {
      const { status, headers, data } = await this.axios.request<unknown>({ ...request, signal, transport });
      return { kind: 'answered', status, headers: { ...headers }, body: data };
    } catch (error) {
      const kind = transport.hasConnected ? 'unanswered' : 'unreached';
      const code = (error as { code?: string }).code ?? 'UNKNOWN';
      return { kind, fault: { providerCode: null, message: faultOf(kind, signal.aborted, withinMs, code) } };
    }
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }
}

/**
 * Node's own requests, watched for the moment from which bytes of the request can leave: the connection is there and,
 * over https, its certificate accepted. Whatever fails before that has not sent anything.
 */
class WatchedTransport {
  hasConnected = false;

  request(options: https.RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest {
    const isSecure = options.protocol === 'https:';
    const request = (isSecure ? https : http).request(options, onResponse);
    const connected = () => (this.hasConnected = true);
    // A kept connection is handed over connected, and fires no such event again.
    request.once('socket', (socket) => {
      if (request.reusedSocket || (!isSecure && !socket.connecting)) connected();
      else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
    });
    return request;
  }
}

/** Names the fault's code alone: an address in the error's own message may hold a token. */
function faultOf(kind: 'unreached' | 'unanswered', tooLate: boolean, withinMs: number, code: string): string {
  const cause = tooLate ? `nothing within ${withinMs / 1000} s` : code;
  return kind === 'unreached'
    ? `The provider can't be reached: ${cause}.`
    : `The provider has not answered: ${cause}.`;
}

/**
 * What whoever waits for a provider is told when it has not answered: where it was looked for, without the path, which
 * may hold a token.
 * @param variable of the configuration, that the address is from
 */
export function providerAway({ message }: ProviderFault, url: string, variable: ProviderVariable): AppError {
  return new AppError('UNAVAILABLE', `${message} It was asked at ${new URL(url).origin} (${variable}).`);
}

/** How long a provider wants to be left alone, from the seconds it names (`Retry-After`, say); 0 for not at all. */
export function waitMsOf(seconds: unknown): number {
  return Math.min(Math.max(numberOf(seconds) ?? 0, 0), MAX_WAIT_SECONDS) * 1000;
}
