import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { AppError } from '../../common/app-error';
import { validate } from '../../common/validate';
import { Config } from '../../config/config';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  HookRequest,
  InboundEvent,
  OutboundMessage,
  ProviderFault,
  SendOutcome,
} from './channel-adapter';
import { jsonOf } from './support/hook-body';
import { isSameSecret } from './support/constant-time';
import { unlessEmpty } from './support/credential-text';
import { AnsweredCall, providerUnavailable, ProviderHttp, retryAfterMs } from './support/provider-http';
import { objectOf, textOf } from './support/provider-values';
import { readUpdate, telegramMessageId } from './telegram-update';

export interface TelegramCredentials {
  botToken: string;
  /** Telegram sends it to the hook with every update. */
  secretToken: string;
}

class TelegramCredentialsInput {
  @Matches(/^\d{1,20}:[\w-]{30,100}$/, {
    message: unlessEmpty('must be a bot token as @BotFather gives it'),
  })
  botToken: string;
}

/** A person's chat has a positive id, a group's a negative one. */
const PERSON_ID = /^[1-9]\d{0,15}$/;
const SECRET_HEADER = 'x-telegram-bot-api-secret-token';

/** Telegram's Bot API. */
@Injectable()
export class TelegramAdapter implements HookedAdapter<TelegramCredentials> {
  readonly channel = 'TELEGRAM';
  readonly limits = { perSecond: 30, conversationIntervalMs: 1000 };
  /** Telegram sends no receipts. */
  readonly unknownHoldMs = 0;

  constructor(
    private readonly http: ProviderHttp,
    private readonly config: Config,
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

  async register({ credentials }: Connection<TelegramCredentials>, hookUrl: string): Promise<void> {
    const { botToken, secretToken } = credentials;
    await this.require(botToken, 'getMe', {});
    await this.require(botToken, 'setWebhook', {
      url: hookUrl,
      secret_token: secretToken,
      allowed_updates: ['message'],
    });
  }

  async unregister({ credentials }: Connection<TelegramCredentials>): Promise<void> {
    await this.require(credentials.botToken, 'deleteWebhook', {});
  }

  async send(
    { credentials }: Connection<TelegramCredentials>,
    { recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    if (!PERSON_ID.test(recipientId)) {
      const message = "The contact's identity is not the id of a person at Telegram.";
      return { kind: 'TERMINAL', fault: { providerCode: null, message } };
    }
    const chatId = Number(recipientId);
    const answer = await this.call(credentials.botToken, 'sendMessage', { chat_id: chatId, text: body });
    if (answer.kind === 'unreached') return { kind: 'RETRY', fault: answer.fault };
    if (answer.kind === 'unanswered') return { kind: 'UNKNOWN', fault: answer.fault };
    return outcomeOf(answer, chatId);
  }

  secretsOf({ credentials }: Connection<TelegramCredentials>): string[] {
    return [credentials.secretToken];
  }

  verify(secret: string, { headers }: HookRequest): boolean {
    const given = headers[SECRET_HEADER];
    return typeof given === 'string' && isSameSecret(given, secret);
  }

  /** An update does not name its bot. */
  parse({ externalId }: Connection<TelegramCredentials>, request: HookRequest): InboundEvent[] {
    const message = readUpdate(externalId, jsonOf(request));
    return message ? [message] : [];
  }

  /** @throws AppError INVALID_BODY with Telegram's refusal; UNAVAILABLE */
  private async require(botToken: string, method: string, parameters: object): Promise<void> {
    const answer = await this.call(botToken, method, parameters);
    if (answer.kind !== 'answered')
      throw providerUnavailable(answer.fault, this.config.providerUrls.TELEGRAM_API_URL, 'TELEGRAM_API_URL');
    if (objectOf(answer.body).ok !== true) {
      throw AppError.invalidBody('credentials', refusal(faultOf(answer)));
    }
  }

  private call(botToken: string, method: string, data: object) {
    return this.http.call({
      method: 'POST',
      url: `${this.config.providerUrls.TELEGRAM_API_URL}/bot${botToken}/${method}`,
      data,
    });
  }
}

export function outcomeOf(answer: AnsweredCall, chatId: number): SendOutcome {
  const { ok, result } = objectOf(answer.body);
  const fault = faultOf(answer);
  if (ok === true) {
    const id = textOf(objectOf(result).message_id);
    return { kind: 'SENT', providerId: id && telegramMessageId(chatId, id) };
  }
  if (answer.status >= 200 && answer.status < 300) return { kind: 'UNKNOWN', fault };
  if (answer.status === 401) return { kind: 'REAUTH', fault };
  // Telegram does not say whether the chat or the bot is too fast. We respect the chat's limit, so it is the bot. A bot
  // that continues anyway is blocked for longer.
  if (answer.status === 429) {
    return { kind: 'RETRY', fault, afterMs: delayOf(answer), concerns: 'connection' };
  }
  if (answer.status >= 500) return { kind: 'RETRY', fault, afterMs: delayOf(answer) };
  return { kind: 'TERMINAL', fault };
}

function faultOf({ status, body }: AnsweredCall): ProviderFault {
  const { error_code: code, description } = objectOf(body);
  return {
    providerCode: textOf(code) ?? String(status),
    message: textOf(description) ?? `Telegram answered with status ${status}.`,
  };
}

function delayOf({ body, headers }: AnsweredCall): number {
  const { retry_after: seconds } = objectOf(objectOf(body).parameters);
  return retryAfterMs(seconds ?? headers['retry-after']);
}

function refusal({ message }: ProviderFault): string {
  return `were refused by Telegram: ${message.replace(/\.$/, '')}`;
}
