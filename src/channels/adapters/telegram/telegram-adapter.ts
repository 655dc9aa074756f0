import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { validate } from '../../../common/validate';
import { Config } from '../../../config/config';
import {
  CheckedCredentials,
  Connection,
  FetchOutcome,
  HookedAdapter,
  HookRequest,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { FileFetcher } from '../file-fetcher';
import { FileReference, HookEvent, ProviderFault } from '../hook-events';
import { isSameSecret } from '../constant-time';
import { faultUnlessEmpty } from '../credential-text';
import { parseJson } from '../hook-body';
import { makeMultipart } from '../multipart';
import { FileSending, OutboundFile } from '../outbound-file';
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
import { objectOf, textOf } from '../provider-values';
import { methodOf, readFileId } from './telegram-files';
import { readUpdate, telegramMessageId } from './telegram-update';

export interface TelegramCredentials {
  botToken: string;
  /** Token that Telegram sends in a header of every request to the hook, to prove its origin. */
  secretToken: string;
}

class TelegramCredentialsInput {
  @Matches(/^\d{1,20}:[\w-]{30,100}$/, faultUnlessEmpty('not_bot_token'))
  botToken: string;
}

/** Id of a Telegram chat with one person, a positive number. The ids of groups are negative. */
const PERSON_ID = /^[1-9]\d{0,15}$/;
const NO_PERSON: SendOutcome = {
  kind: 'TERMINAL',
  fault: {
    providerCode: null,
    message: "The contact's identity is not the id of a person at Telegram.",
  },
};
/** Milliseconds for which Telegram's id of a file is used. Telegram names no end. */
const FILE_ID_LIVES_MS = 365 * 24 * 60 * 60 * 1000;
/** Milliseconds after which a failed delivery of Telegram is over, because it tries again more often. */
const FAULT_LASTS_MS = 60 * 60 * 1000;
const SECRET_HEADER = 'x-telegram-bot-api-secret-token';

/** Sends and receives messages of a bot through Telegram's Bot API. */
@Injectable()
export class TelegramAdapter implements HookedAdapter<TelegramCredentials> {
  readonly channel = 'TELEGRAM';
  readonly limits = { perSecond: 30, conversationIntervalMs: 1000 };
  /** No delay after an unknown outcome, because Telegram sends no receipts. */
  readonly unknownHoldMs = 0;
  readonly refusesLater = false;

  constructor(
    private readonly http: ProviderHttp,
    private readonly config: Config,
    private readonly files: FileFetcher,
  ) {}

  check(input: unknown): CheckedCredentials<TelegramCredentials> {
    const { botToken } = validate(TelegramCredentialsInput, input);
    const externalId = botToken.slice(0, botToken.indexOf(':'));
    const secretToken = randomBytes(32).toString('base64url');
    return {
      externalId,
      credentials: { botToken, secretToken },
      settings: {},
      reveal: {},
      expireAt: null,
    };
  }

  async prove({ credentials }: Connection<TelegramCredentials>): Promise<void> {
    await this.require(credentials.botToken, 'getMe', {});
  }

  async register({ credentials }: Connection<TelegramCredentials>, hookUrl: string): Promise<void> {
    const { botToken, secretToken } = credentials;
    await this.require(botToken, 'setWebhook', {
      url: hookUrl,
      secret_token: secretToken,
      allowed_updates: ['message', 'edited_message', 'message_reaction'],
    });
  }

  /**
   * Reports whether Telegram delivers updates to another address, or has updates and could not deliver one
   * within the last hour. Returns null if it does not say.
   */
  async hasHookFault(
    { credentials }: Connection<TelegramCredentials>,
    hookUrl: string,
  ): Promise<boolean | null> {
    const answer = await this.http.call(this.toCall(credentials.botToken, 'getWebhookInfo', {}));
    if (answer.kind !== 'answered') return null;
    const { ok, result } = objectOf(answer.body);
    if (ok !== true) return null;
    const { url, pending_update_count: pending, last_error_date: failedAt } = objectOf(result);
    if (url !== hookUrl) return true;
    return Number(pending) > 0 && Number(failedAt) * 1000 > Date.now() - FAULT_LASTS_MS;
  }

  async unregister({ credentials }: Connection<TelegramCredentials>): Promise<void> {
    await this.require(credentials.botToken, 'deleteWebhook', {});
  }

  async send(
    { credentials }: Connection<TelegramCredentials>,
    { recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    if (!PERSON_ID.test(recipientId)) return NO_PERSON;
    const chatId = Number(recipientId);
    const call = this.toCall(credentials.botToken, 'sendMessage', { chat_id: chatId, text: body });
    const answer = await this.http.call(call);
    return answer.kind === 'answered' ? telegramOutcome(answer, chatId) : outcomeWithoutAnswer(answer);
  }

  /** Sends a file with its upload, or by the id that Telegram gave it before. */
  async sendFile(
    { credentials: { botToken } }: Connection<TelegramCredentials>,
    file: OutboundFile,
    sending: FileSending,
  ): Promise<SendOutcome> {
    if (!PERSON_ID.test(file.recipientId)) return NO_PERSON;
    const chatId = Number(file.recipientId);
    const { method, field } = methodOf(file);
    const answer = await this.postFile(this.toCall(botToken, method, {}), field, file, sending);
    if (answer.kind !== 'answered') return outcomeWithoutAnswer(answer);
    const outcome = telegramOutcome(answer, chatId);
    const fileId = outcome.kind === 'SENT' ? readFileId(answer.body, field) : null;
    if (fileId !== null) sending.keep(fileId, FILE_ID_LIVES_MS);
    return outcome;
  }

  private async postFile(
    call: ProviderCall,
    field: string,
    file: OutboundFile,
    { known, open, begin, signal }: FileSending,
  ): Promise<ProviderAnswer> {
    const fields = { chat_id: file.recipientId, ...(file.caption !== null && { caption: file.caption }) };
    if (known !== null) {
      await begin();
      return this.http.call({
        ...call,
        data: { ...fields, chat_id: Number(fields.chat_id), [field]: known },
      });
    }
    const { name, contentType, size } = file;
    let hasBegun = false;
    const beforeEnd = async () => {
      await begin();
      hasBegun = true;
    };
    const multipart = makeMultipart(
      fields,
      { field, name, contentType, size, content: await open() },
      beforeEnd,
    );
    const answer = await this.http.upload(call, multipart, signal);
    // Without its last bytes, Telegram cannot have taken the file.
    return answer.kind === 'unanswered' && !hasBegun ? { ...answer, kind: 'unreached' } : answer;
  }

  /** Asks for the file's path, and fetches it at an address that has the bot's token. */
  async fetchFile(
    { credentials: { botToken } }: Connection<TelegramCredentials>,
    { id }: FileReference,
    signal: AbortSignal,
  ): Promise<FetchOutcome> {
    const answer = await this.http.call(this.toCall(botToken, 'getFile', { file_id: id }));
    if (answer.kind !== 'answered') return { kind: 'RETRY' };
    const { ok, result } = objectOf(answer.body);
    if (ok !== true) return refusedFile(answer);
    const path = textOf(objectOf(result).file_path);
    if (path === null) return { kind: 'RETRY' };
    const apiUrl = this.config.providerUrls.TELEGRAM_API_URL;
    const url = `${apiUrl}/file/bot${botToken}/${path}`;
    const fetched = await this.files.fetch({ url, hosts: [], apiUrl, signal });
    if (fetched.kind !== 'REFUSED') return fetched;
    return { kind: fetched.status === 401 ? 'REAUTH' : 'RETRY' };
  }

  listSecrets({ credentials }: Connection<TelegramCredentials>): string[] {
    return [credentials.secretToken];
  }

  verify(secret: string, { headers }: HookRequest): boolean {
    const given = headers[SECRET_HEADER];
    return typeof given === 'string' && isSameSecret(given, secret);
  }

  /** Reads an update. The update does not name the bot, so it is taken as one of the connection's bot. */
  parse({ externalId }: Connection<TelegramCredentials>, request: HookRequest): HookEvent[] {
    const event = readUpdate(externalId, parseJson(request));
    return event ? [event] : [];
  }

  /**
   * Makes a call that must succeed before a connection is stored.
   * @throws AppError INVALID_BODY with Telegram's refusal; UNAVAILABLE if there is no response
   */
  private async require(botToken: string, method: string, parameters: object): Promise<void> {
    const answer = await this.http.require(this.toCall(botToken, method, parameters), 'TELEGRAM_API_URL');
    if (objectOf(answer.body).ok !== true) throw credentialsRefused('Telegram', readFault(answer));
  }

  private toCall(botToken: string, method: string, data: object): ProviderCall {
    const url = `${this.config.providerUrls.TELEGRAM_API_URL}/bot${botToken}/${method}`;
    return { method: 'POST', url, data };
  }
}

/** Telegram's refusal of a file for its size. Its refusal of an id also hides faults of its own. */
const TOO_BIG = /file is too big/i;

function refusedFile(answer: AnsweredCall): FetchOutcome {
  if (answer.status === 401) return { kind: 'REAUTH' };
  if (TOO_BIG.test(readFault(answer).message)) return { kind: 'TOO_BIG' };
  const afterMs = readDelay(answer);
  return { kind: 'RETRY', ...(afterMs > 0 && { afterMs }) };
}

export function telegramOutcome(answer: AnsweredCall, chatId: number): SendOutcome {
  const { ok, result } = objectOf(answer.body);
  const fault = readFault(answer);
  if (ok === true) {
    const id = textOf(objectOf(result).message_id);
    return { kind: 'SENT', providerId: id && telegramMessageId(chatId, id) };
  }
  if (isSuccess(answer)) return { kind: 'UNKNOWN', fault };
  if (answer.status === 401) return { kind: 'REAUTH', fault };
  // Telegram does not report whether the chat's or the bot's limit is exceeded. It must be the bot's, because
  // the service respects the chat's. Telegram blocks a bot for longer if it continues to send.
  if (answer.status === 429) {
    return { kind: 'RETRY', fault, afterMs: readDelay(answer), concerns: 'connection' };
  }
  if (answer.status >= 500) return { kind: 'RETRY', fault, afterMs: readDelay(answer) };
  return { kind: 'TERMINAL', fault };
}

function readFault({ status, body }: AnsweredCall): ProviderFault {
  const { error_code: code, description } = objectOf(body);
  return {
    providerCode: textOf(code) ?? String(status),
    message: textOf(description) ?? `Telegram answered with status ${status}.`,
  };
}

function readDelay({ body, headers }: AnsweredCall): number {
  const { retry_after: seconds } = objectOf(objectOf(body).parameters);
  return retryAfterMs(seconds ?? headers['retry-after']);
}
