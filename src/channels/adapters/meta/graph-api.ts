import { Injectable } from '@nestjs/common';
import { AppError } from '../../../common/app-error';
import { ProviderVariable } from '../../../common/channel-descriptors';
import { ProviderFault, SendOutcome } from '../channel-adapter';
import {
  AnsweredCall,
  ProviderAnswer,
  providerUnavailable,
  ProviderHttp,
  retryAfterMs,
} from '../support/provider-http';
import { lookUp, objectOf, ProviderObject, textOf } from '../support/provider-values';
import { Verdict, Verdicts } from '../support/verdict';

export interface GraphRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** With the version, without a query. */
  url: string;
  accessToken: string;
  tokenIn: 'header' | 'query';
  params?: Record<string, string>;
  data?: object;
}

export type GraphAnswer = { kind: 'ANSWERED'; body: ProviderObject } | Exclude<SendOutcome, { kind: 'SENT' }>;

/**
 * The hourly quota of an app, a page or an account is used up, so all messages of the connection wait. The hour
 * slides: part of the quota is free again within minutes.
 */
export const HOURLY_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

const MAX_FAULT_LENGTH = 500;

/** Meta's Graph API, under WhatsApp, Messenger and Instagram. */
@Injectable()
export class GraphApi {
  constructor(private readonly http: ProviderHttp) {}

  /**
   * Makes one attempt to send.
   * @param idOf finds the message's id in a response
   */
  async send(
    request: GraphRequest,
    verdicts: Verdicts,
    idOf: (body: ProviderObject) => string | null,
  ): Promise<SendOutcome> {
    const answer = await this.call(request);
    const outcome = outcomeOf(answer, verdicts, idOf);
    if (outcome.kind === 'SENT') return outcome;
    return { ...outcome, fault: redact(request.accessToken, outcome.fault) };
  }

  /** Makes a call that sends no message. Its refusals have the same verdicts. */
  async ask(request: GraphRequest, verdicts: Verdicts): Promise<GraphAnswer> {
    let answered: ProviderObject = {};
    const outcome = await this.send(request, verdicts, (body) => {
      answered = body;
      return '';
    });
    return outcome.kind === 'SENT' ? { kind: 'ANSWERED', body: answered } : outcome;
  }

  /**
   * Makes a call that must succeed before a connection is stored.
   * @param variable sets the provider's address
   * @returns the body of the response
   * @throws AppError INVALID_BODY with Meta's refusal; UNAVAILABLE
   */
  async require(request: GraphRequest, variable: ProviderVariable): Promise<ProviderObject> {
    const answer = await this.call(request);
    if (answer.kind !== 'answered') throw providerUnavailable(answer.fault, request.url, variable);
    if (isSuccess(answer) && !('error' in objectOf(answer.body))) return objectOf(answer.body);
    const reason = redact(request.accessToken, graphFaultOf(answer)).message.replace(/\.$/, '');
    throw AppError.invalidBody('credentials', `were refused by Meta: ${reason}`);
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
  const afterMs = Math.max(verdict.afterMs ?? 0, retryAfterMs(answer.headers['retry-after']));
  return { ...verdict, fault, ...(afterMs > 0 && { afterMs }) };
}

/** Responses and message statuses hold errors of the same form. */
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

/** The code decides, as Meta asks: its HTTP statuses do not separate refusals from limits. The status is a fallback. */
function verdictOf({ status, body }: AnsweredCall, verdicts: Verdicts): Verdict {
  const { code, error_subcode: subcode } = objectOf(objectOf(body).error);
  const known = lookUp(verdicts, `${textOf(code)}/${textOf(subcode)}`) ?? lookUp(verdicts, `${textOf(code)}`);
  if (known) return known;
  return { kind: status === 429 || status >= 500 ? 'RETRY' : 'TERMINAL' };
}

function isSuccess({ status }: AnsweredCall): boolean {
  return status >= 200 && status < 300;
}

/** Meta quotes an unreadable token in its error. */
function redact(accessToken: string, { providerCode, message }: ProviderFault): ProviderFault {
  return { providerCode, message: message.replaceAll(accessToken, '…').slice(0, MAX_FAULT_LENGTH) };
}
