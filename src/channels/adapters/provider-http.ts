import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosInstance, AxiosRequestConfig } from 'axios';
import { ProviderFault } from './channel-adapter';

/** Name, connection, TLS, request and answer together. A message's lease outlives it. */
const ANSWER_WITHIN_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SOCKETS = 500;
/** Below what servers keep an idle connection for, so that none closes just as a message is written to it. */
const IDLE_MS = 4_000;

/** What a provider answered, or why it did not. */
export type ProviderAnswer =
  | { kind: 'answered'; status: number; headers: Record<string, unknown>; body: unknown }
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
    responseType: 'text',
    transitional: { silentJSONParsing: true, forcedJSONParsing: true, clarifyTimeoutError: true },
    validateStatus: () => true,
  });

  async call(request: AxiosRequestConfig): Promise<ProviderAnswer> {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      const { status, headers, data } = await this.axios.request<unknown>({ ...request, signal });
      return { kind: 'answered', status, headers: { ...headers }, body: data };
    } catch (error) {
      return failed(error, signal.aborted);
    }
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }
}

/** Faults of looking up, connecting and TLS: they end before the first byte of a request. */
const BEFORE_THE_REQUEST = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
]);

/** The message names the fault's code alone: an address in it may hold a token. */
function failed(error: unknown, tooLate: boolean): ProviderAnswer {
  const code = (error as { code?: string }).code ?? 'UNKNOWN';
  if (tooLate) {
    const message = `The provider did not answer within ${ANSWER_WITHIN_MS / 1000} s.`;
    return { kind: 'unanswered', fault: { providerCode: null, message } };
  }
  if (BEFORE_THE_REQUEST.has(code)) {
    return {
      kind: 'unreached',
      fault: { providerCode: null, message: `The provider can't be reached: ${code}.` },
    };
  }
  return {
    kind: 'unanswered',
    fault: { providerCode: null, message: `The connection to the provider failed: ${code}.` },
  };
}
