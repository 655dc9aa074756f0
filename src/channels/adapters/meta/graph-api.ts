import { Injectable } from '@nestjs/common';
import { ProviderVariable } from '../../../common/channel-descriptors';
import { Config } from '../../../config/config';
import { FetchOutcome, SendOutcome } from '../channel-adapter';
import { FetchedFile, FileFetcher } from '../file-fetcher';
import { ProviderFault } from '../hook-events';
import {
  AnsweredCall,
  credentialsRefused,
  isSuccess,
  outcomeWithoutAnswer,
  ProviderAnswer,
  ProviderCall,
  ProviderHttp,
  retryAfterMs,
} from '../provider-http';
import { makeMultipart, MultipartFile } from '../multipart';
import { lookUp, objectOf, ProviderObject, textOf } from '../provider-values';
import { Verdict, Verdicts } from '../channel-adapter';
import { META_FILE_HOSTS } from './file-addresses';

export interface GraphRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Environment variable that sets the API's address. */
  api: Extract<ProviderVariable, 'META_GRAPH_URL' | 'INSTAGRAM_GRAPH_URL'>;
  /** Path below the API's version, without a query. */
  path: string;
  isUnversioned?: boolean;
  accessToken: string;
  tokenIn: 'header' | 'query';
  params?: Record<string, string>;
  data?: object;
}

/**
 * Verdict on a used-up hourly quota of an app, page or account. The hour is a sliding window, so part of the
 * quota is free again within minutes.
 */
export const HOURLY_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

const MAX_FAULT_LENGTH = 500;

/** Code and subcode of an id that does not exist any more. */
const NO_SUCH_OBJECT = '100/33';

/** Calls Meta's Graph API, which serves WhatsApp, Messenger and Instagram. */
@Injectable()
export class GraphApi {
  constructor(
    private readonly http: ProviderHttp,
    private readonly config: Config,
    private readonly files: FileFetcher,
  ) {}

  async send(
    request: GraphRequest,
    verdicts: Verdicts,
    readId: (body: ProviderObject) => string | null,
    timeoutMs?: number,
  ): Promise<SendOutcome> {
    const answer = await this.http.call(this.toCall(request), timeoutMs);
    return readOutcome(request, answer, verdicts, readId);
  }

  /**
   * Uploads a file, which delivers nothing yet.
   * @returns SENT with the file's id at Meta; never UNKNOWN, because a repeated upload does no harm
   */
  async upload(
    request: Omit<GraphRequest, 'method'>,
    { fields, file, signal }: { fields: Record<string, string>; file: MultipartFile; signal: AbortSignal },
    verdicts: Verdicts,
    readId: (body: ProviderObject) => string | null,
  ): Promise<SendOutcome> {
    const post = { ...request, method: 'POST' } as const;
    const answer = await this.http.upload(this.toCall(post), makeMultipart(fields, file), signal);
    const outcome = readOutcome(post, answer, verdicts, readId);
    return outcome.kind === 'UNKNOWN' ? { kind: 'RETRY', fault: outcome.fault } : outcome;
  }

  /**
   * Asks for the address of a file, which is valid for minutes.
   * @returns Meta's answer about the file
   */
  async findFile(request: GraphRequest, verdicts: Verdicts): Promise<ProviderObject | FetchOutcome> {
    const answer = await this.http.call(this.toCall(request));
    if (answer.kind !== 'answered') return { kind: 'RETRY' };
    const body = objectOf(answer.body);
    if (isSuccess(answer) && !('error' in body)) return body;
    if (answer.status === 404 || isGone(objectOf(body.error))) return { kind: 'GONE' };
    if (answer.status === 401 || lacksPermission(objectOf(body.error))) return { kind: 'REAUTH' };
    const verdict = chooseVerdict(answer, verdicts);
    if (verdict.kind === 'REAUTH') return { kind: 'REAUTH' };
    if (verdict.kind === 'RETRY')
      return { kind: 'RETRY', ...(verdict.afterMs !== undefined && { afterMs: verdict.afterMs }) };
    return { kind: answer.status >= 500 ? 'RETRY' : 'GONE' };
  }

  /** Begins to fetch a file from an address at Meta. */
  async fetchFile(
    url: string,
    { api, authorization, signal }: { api: GraphRequest['api']; authorization?: string; signal: AbortSignal },
  ): Promise<FetchOutcome> {
    const apiUrl = this.config.providerUrls[api];
    const answer = await this.files.fetch({ url, hosts: META_FILE_HOSTS, apiUrl, authorization, signal });
    // An address that takes the token is that of a file, which may be a page that the customer has sent.
    const mayBePage = authorization === undefined;
    if (answer.kind === 'FETCHED')
      return mayBePage && isPage(answer.contentType) ? refusePage(answer) : answer;
    if (answer.kind === 'FORBIDDEN') return answer;
    const { status } = answer;
    if (status === 401 || (status === 403 && authorization !== undefined)) return { kind: 'REAUTH' };
    if (status >= 400 && status < 500 && status !== 429 && status !== 408) return { kind: 'GONE' };
    return { kind: status >= 300 && status < 400 ? 'FORBIDDEN' : 'RETRY' };
  }

  /**
   * Makes a call that must succeed before a connection is stored.
   * @throws AppError INVALID_BODY with Meta's refusal; UNAVAILABLE if there is no response
   */
  async require(request: GraphRequest): Promise<void> {
    const answer = await this.http.require(this.toCall(request), request.api);
    if (isSuccess(answer) && !('error' in objectOf(answer.body))) return;
    throw credentialsRefused('Meta', redact(request.accessToken, graphFault(answer)));
  }

  private toCall(request: GraphRequest): ProviderCall {
    const { method, api, path, isUnversioned, accessToken, tokenIn, params, data } = request;
    const { providerUrls, metaGraphVersion } = this.config;
    const isHeader = tokenIn === 'header';
    return {
      method,
      url: [providerUrls[api], ...(isUnversioned ? [] : [metaGraphVersion]), path].join('/'),
      params: isHeader ? params : { ...params, access_token: accessToken },
      headers: isHeader ? { authorization: `Bearer ${accessToken}` } : {},
      data,
    };
  }
}

function isGone(error: ProviderObject): boolean {
  return `${textOf(error.code)}/${textOf(error.error_subcode)}` === NO_SUCH_OBJECT;
}

/** Reports whether an error says that the app lacks a permission, which its owner can give back. */
function lacksPermission({ code }: ProviderObject): boolean {
  return code === 10 || (typeof code === 'number' && code >= 200 && code <= 299);
}

/** Reports whether an address leads to a page, such as that of a post, and not to a file. */
function isPage(contentType: string | null): boolean {
  return contentType !== null && /^text\/html\b/i.test(contentType);
}

function refusePage({ content }: FetchedFile): FetchOutcome {
  content.destroy();
  return { kind: 'FORBIDDEN' };
}

function readOutcome(
  { accessToken }: GraphRequest,
  answer: ProviderAnswer,
  verdicts: Verdicts,
  readId: (body: ProviderObject) => string | null,
): SendOutcome {
  const outcome = graphOutcome(answer, verdicts, readId);
  if (outcome.kind === 'SENT') return outcome;
  return { ...outcome, fault: redact(accessToken, outcome.fault) };
}

/**
 * Returns the outcome of an attempt to send a message.
 * @param readId returns the message's id from the body of a response, or null
 */
export function graphOutcome(
  answer: ProviderAnswer,
  verdicts: Verdicts,
  readId: (body: ProviderObject) => string | null,
): SendOutcome {
  if (answer.kind !== 'answered') return outcomeWithoutAnswer(answer);
  const body = objectOf(answer.body);
  const fault = graphFault(answer);
  if (isSuccess(answer) && !('error' in body)) {
    const providerId = readId(body);
    return providerId === null ? { kind: 'UNKNOWN', fault } : { kind: 'SENT', providerId };
  }
  const verdict = chooseVerdict(answer, verdicts);
  if (verdict.kind !== 'RETRY') return { kind: verdict.kind, fault };
  const afterMs = Math.max(verdict.afterMs ?? 0, retryAfterMs(answer.headers['retry-after']));
  return { ...verdict, fault, ...(afterMs > 0 && { afterMs }) };
}

/** Reads Meta's error object, which has the same form in responses and in statuses of messages. */
export function readGraphError(error: ProviderObject): ProviderFault {
  const code = textOf(error.code);
  const subcode = textOf(error.error_subcode);
  const message = textOf(error.message) ?? textOf(error.title) ?? 'Meta gave no reason.';
  const details = textOf(objectOf(error.error_data).details);
  return {
    providerCode: code === null || subcode === null ? code : `${code}/${subcode}`,
    message: details === null ? message : `${message}: ${details}`,
  };
}

function graphFault({ status, body }: AnsweredCall): ProviderFault {
  const { error } = objectOf(body);
  if (typeof error === 'object' && error !== null) return readGraphError(objectOf(error));
  return { providerCode: null, message: `Meta answered with status ${status} and no reason.` };
}

/**
 * Chooses the verdict by Meta's error code, because Meta uses the same HTTP statuses for refusals and for
 * limits. The status decides only if the code is unknown.
 */
function chooseVerdict({ status, body }: AnsweredCall, verdicts: Verdicts): Verdict {
  const { code, error_subcode: subcode } = objectOf(objectOf(body).error);
  const known = lookUp(verdicts, `${textOf(code)}/${textOf(subcode)}`) ?? lookUp(verdicts, `${textOf(code)}`);
  if (known) return known;
  return { kind: status === 429 || status >= 500 ? 'RETRY' : 'TERMINAL' };
}

/** Removes the access token from a fault, because Meta quotes a malformed token in its error text. */
function redact(accessToken: string, { providerCode, message }: ProviderFault): ProviderFault {
  return { providerCode, message: message.replaceAll(accessToken, '…').slice(0, MAX_FAULT_LENGTH) };
}
