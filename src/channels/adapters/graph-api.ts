import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { ProviderVariable } from '../../common/channel';
import { ProviderFault, SendOutcome } from './channel-adapter';
import { AnsweredCall, ProviderAnswer, providerAway, ProviderHttp, waitMsOf } from './provider-http';
import { lookUp, objectOf, ProviderObject, textOf } from './provider-json';

/** A call of one of Meta's Graph APIs. */
export interface GraphRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** With the version, without a query. */
  url: string;
  accessToken: string;
  /** Where this API wants the token. */
  tokenIn: 'header' | 'query';
  params?: Record<string, string>;
  data?: object;
}

/** What a code of an API means for the message. */
export type Verdict =
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  | { kind: 'TERMINAL' | 'WINDOW' | 'REAUTH' };

/** An API's codes: `"131047"`, or with a subcode `"10/2018278"`, which counts before the bare code. */
export type Verdicts = Readonly<Record<string, Verdict>>;

/** What an API answered to a question, or what its refusal means. */
export type GraphAnswer = { kind: 'ANSWERED'; body: ProviderObject } | Exclude<SendOutcome, { kind: 'SENT' }>;

/**
 * What an app, a page or an account may do within an hour is used up, so every message over this connection is too
 * many. The hour is a sliding one: a part of it comes back within minutes.
 */
export const HOURLY_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

const MAX_FAULT_LENGTH = 500;

/** What WhatsApp, Messenger and Instagram have in common: how Meta is asked, and how it says no. */
@Injectable()
export class GraphApi {
  constructor(private readonly http: ProviderHttp) {}

  /**
   * One attempt to send.
   * @param idOf finds the id of the message in the body of an answer
   */
  async send(
    request: GraphRequest,
    verdicts: Verdicts,
    idOf: (body: ProviderObject) => string | null,
  ): Promise<SendOutcome> {
    const answer = await this.call(request);
    const outcome = outcomeOf(answer, verdicts, idOf);
    if (outcome.kind === 'SENT') return outcome;
    return { ...outcome, fault: without(request.accessToken, outcome.fault) };
  }

  /** Asks for something that does not send a message. Refusals are judged as if it did. */
  async ask(request: GraphRequest, verdicts: Verdicts): Promise<GraphAnswer> {
    let answered: ProviderObject = {};
    const outcome = await this.send(request, verdicts, (body) => {
      answered = body;
      return '';
    });
    return outcome.kind === 'SENT' ? { kind: 'ANSWERED', body: answered } : outcome;
  }

  /**
   * Asks for something that must work for a connection to be made.
   * @param variable that the request's address is from
   * @returns the body of the answer
   * @throws AppError INVALID_BODY with what Meta said; UNAVAILABLE
   */
  async require(request: GraphRequest, variable: ProviderVariable): Promise<ProviderObject> {
    const answer = await this.call(request);
    if (answer.kind !== 'answered') throw providerAway(answer.fault, request.url, variable);
    if (isSuccess(answer) && !('error' in objectOf(answer.body))) return objectOf(answer.body);
    const said = without(request.accessToken, graphFaultOf(answer)).message.replace(/\.$/, '');
    throw AppError.invalidBody('credentials', `were not taken by Meta: ${said}`);
  }

  private call({ accessToken, tokenIn, params, data, method, url }: GraphRequest): Promise<ProviderAnswer> {
    const isHeader = tokenIn === 'header';
    return this.http.call({
      method,
      url,
      params: isHeader ? params : { ...params, access_token: accessToken },
      headers: isHeader ? { authorization: `Bearer ${accessToken}` } : {},
      data,
    });
  }
}

/** What came of a call that sends a message. */
export function outcomeOf(
  answer: ProviderAnswer,
  verdicts: Verdicts,
  idOf: (body: ProviderObject) => string | null,
): SendOutcome {
  if (answer.kind === 'unreached') return { kind: 'RETRY', fault: answer.fault };
  if (answer.kind === 'unanswered') return { kind: 'UNKNOWN', fault: answer.fault };
  const body = objectOf(answer.body);
  const fault = graphFaultOf(answer);
  if (isSuccess(answer) && !('error' in body)) {
    const providerId = idOf(body);
    return providerId === null ? { kind: 'UNKNOWN', fault } : { kind: 'SENT', providerId };
  }
  const verdict = verdictOf(answer, verdicts);
  if (verdict.kind !== 'RETRY') return { kind: verdict.kind, fault };
  const afterMs = Math.max(verdict.afterMs ?? 0, waitMsOf(answer.headers['retry-after']));
  return { ...verdict, fault, ...(afterMs > 0 && { afterMs }) };
}

/** What an error says, wherever Meta puts it: in an answer, or in the status of a message. */
export function faultOfError(error: ProviderObject): ProviderFault {
  const code = textOf(error.code);
  const subcode = textOf(error.error_subcode);
  const message = textOf(error.message) ?? textOf(error.title) ?? 'Meta gave no reason.';
  const details = textOf(objectOf(error.error_data).details);
  return {
    providerCode: code === null || subcode === null ? code : `${code}/${subcode}`,
    message: details === null ? message : `${message}: ${details}`,
  };
}

function graphFaultOf({ status, body }: AnsweredCall): ProviderFault {
  const { error } = objectOf(body);
  if (typeof error === 'object' && error !== null) return faultOfError(objectOf(error));
  return { providerCode: null, message: `Meta answered with status ${status} and no reason.` };
}

/** By the code, as Meta asks for: statuses don't tell a refusal from a limit. By the status only without a known code. */
function verdictOf({ status, body }: AnsweredCall, verdicts: Verdicts): Verdict {
  const { code, error_subcode: subcode } = objectOf(objectOf(body).error);
  const known = lookUp(verdicts, `${textOf(code)}/${textOf(subcode)}`) ?? lookUp(verdicts, `${textOf(code)}`);
  if (known) return known;
  return { kind: status === 429 || status >= 500 ? 'RETRY' : 'TERMINAL' };
}

function isSuccess({ status }: AnsweredCall): boolean {
  return status >= 200 && status < 300;
}

/** Meta quotes a token that it can't read; ours is not for anybody's eyes. */
function without(accessToken: string, { providerCode, message }: ProviderFault): ProviderFault {
  return { providerCode, message: message.replaceAll(accessToken, '…').slice(0, MAX_FAULT_LENGTH) };
}
