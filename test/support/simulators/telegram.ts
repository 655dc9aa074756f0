import { SimulatedCall, ProviderResponse, ProviderSimulator, Trouble } from './provider-simulator';
import { MIB, SimulatedFile, UploadedFiles } from './simulated-files';

export interface TelegramSent {
  botToken: string;
  chatId: number;
  messageId: number;
  text: string;
  /** File of the message, and the method that sent it; left out for a text. */
  file?: SimulatedFile & { method: string };
}

/** Parameter of each method that sends a file, and the largest file that it takes. */
const FILE_METHODS: Record<string, { field: string; maxBytes: number; types: RegExp }> = {
  sendPhoto: { field: 'photo', maxBytes: 10 * MIB, types: /^image\/(jpeg|png|webp)$/ },
  sendAudio: { field: 'audio', maxBytes: 50 * MIB, types: /^audio\/(mpeg|mp4)$/ },
  sendVoice: { field: 'voice', maxBytes: 50 * MIB, types: /^audio\/(ogg|mpeg|mp4)$/ },
  sendVideo: { field: 'video', maxBytes: 50 * MIB, types: /^video\/mp4$/ },
  sendDocument: { field: 'document', maxBytes: 50 * MIB, types: /./ },
};

interface Webhook {
  url: string;
  secret_token?: string;
  allowed_updates?: string[];
}

/**
 * Simulator of Telegram's Bot API. Any token of the right form is a bot, and any positive chat id a person
 * who started it.
 */
export class TelegramSimulator extends ProviderSimulator {
  readonly sent: TelegramSent[] = [];
  /** Webhooks by bot token. */
  readonly webhooks = new Map<string, Webhook>();
  /** Telegram's word on updates that it could not deliver, by the bot's token. */
  readonly undelivered = new Map<string, { pending_update_count: number; last_error_date: number }>();
  readonly revokedTokens = new Set<string>();
  readonly blockedBy = new Set<number>();
  readonly unknownChats = new Set<number>();
  /** Files that bots have sent, by Telegram's id. */
  readonly files = new UploadedFiles<{ field: string; botToken: string }>(1_000_000);

  /** Paths of customers' files by Telegram's id, such as `/file/bot<token>/photos/1.jpg`; or `too big`. */
  readonly customerFiles = new Map<string, string>();

  private nextMessageId = 1000;
  private nextUpdateId = 500_000;

  static token(botId = 7_000_001): string {
    return `${botId}:AA${'simulatedTelegramBotToken'.padEnd(33, 'x')}`;
  }

  static tooManyRequests(retryAfter: number): Trouble {
    const parameters = { retry_after: retryAfter };
    return refused(429, `Too Many Requests: retry after ${retryAfter}`, { parameters });
  }

  static refusal(code: number, description: string): Trouble {
    return refused(code, description);
  }

  /** Environment of a service whose bots are here, with a public address for their hooks. */
  get environment(): Record<string, string> {
    return { TELEGRAM_API_URL: this.url, PUBLIC_URL: 'https://messaging.example.com' };
  }

  /** Returns the texts that a person's bot was asked to send, including refused ones. */
  textsTo(chatId: number | string): string[] {
    return this.sendsTo(Number(chatId)).map(({ body }) => body.text as string);
  }

  /** Returns the calls that send a message to a chat, including refused ones. */
  sendsTo(chatId: number): SimulatedCall[] {
    return this.calls.filter((call) => this.isSend(call) && Number(call.body.chat_id) === chatId);
  }

  /** Makes the update of a person's text to the bot. `message` overrides its fields. */
  textUpdate(chatId: number, text: string, message: Record<string, unknown> = {}) {
    return this.update(chatId, { text, ...message });
  }

  /** Makes the update of a message of any kind. */
  update(chatId: number, message: Record<string, unknown>) {
    return {
      update_id: this.nextUpdateId++,
      message: {
        message_id: this.nextMessageId++,
        from: { id: chatId, is_bot: false, first_name: 'Ana', username: 'ana_r', language_code: 'es' },
        chat: { id: chatId, type: 'private', first_name: 'Ana' },
        date: Math.floor(Date.now() / 1000),
        ...message,
      },
    };
  }

  /** Sends a person's text to the hook. Returns the status of the response. */
  write(botToken: string, chatId: number, text: string): Promise<number> {
    return this.deliver(botToken, this.textUpdate(chatId, text));
  }

  /**
   * Sends an update to the hook, as Telegram does again if the response was lost. Returns the status of the
   * response.
   */
  deliver(botToken: string, update: object, secret?: string): Promise<number> {
    const webhook = this.webhooks.get(botToken);
    if (!webhook) throw new Error('The bot has no webhook');
    const secretToken = secret ?? webhook.secret_token;
    return this.callHook(webhook.url, JSON.stringify(update), {
      ...(secretToken && { 'x-telegram-bot-api-secret-token': secretToken }),
    });
  }

  protected isSend({ path }: SimulatedCall): boolean {
    return /\/send[A-Z]\w+$/.test(path);
  }

  protected answer(call: SimulatedCall): ProviderResponse {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(call.path) ?? [];
    if (!/^\d+:[\w-]{30,}$/.test(token)) return failure(404, 'Not Found');
    if (this.revokedTokens.has(token)) return failure(401, 'Unauthorized');
    switch (method) {
      case 'getMe':
        return ok({
          id: botId(token),
          is_bot: true,
          first_name: 'Shop',
          username: `shop_${botId(token)}_bot`,
        });
      case 'setWebhook':
        return this.setWebhook(token, call.body);
      case 'getWebhookInfo':
        return ok({
          url: this.webhooks.get(token)?.url ?? '',
          has_custom_certificate: false,
          pending_update_count: 0,
          ...this.undelivered.get(token),
        });
      case 'deleteWebhook':
        this.webhooks.delete(token);
        return ok(true);
      case 'getFile':
        return this.getFile(token, call.body);
      case 'sendMessage':
        return this.sendMessage(token, call.body);
      case 'sendPhoto':
      case 'sendAudio':
      case 'sendVoice':
      case 'sendVideo':
      case 'sendDocument':
        return this.sendFile(token, method, call.body);
      default:
        return failure(404, 'Not Found');
    }
  }

  private setWebhook(token: string, { url, secret_token, allowed_updates }: Webhook): ProviderResponse {
    if (!/^[\w-]{1,256}$/.test(secret_token ?? '')) {
      return failure(400, 'Bad Request: secret token contains unallowed characters');
    }
    this.webhooks.set(token, { url, secret_token, allowed_updates });
    return ok(true);
  }

  private getFile(token: string, { file_id: id }: { file_id: unknown }): ProviderResponse {
    const path = this.customerFiles.get(String(id));
    if (path === undefined)
      return failure(400, 'Bad Request: wrong file_id or the file is temporarily unavailable');
    if (path === 'too big') return failure(400, 'Bad Request: file is too big');
    return ok({
      file_id: id,
      file_unique_id: `u${String(id)}`,
      file_path: path.replace(`/file/bot${token}/`, ''),
    });
  }

  private sendMessage(
    botToken: string,
    { chat_id, text }: { chat_id: unknown; text: unknown },
  ): ProviderResponse {
    const chatId = Number(chat_id);
    if (typeof text !== 'string' || text === '') return failure(400, 'Bad Request: message text is empty');
    if ([...text].length > 4096) return failure(400, 'Bad Request: message is too long');
    if (!(chatId > 0) || this.unknownChats.has(chatId)) return failure(400, 'Bad Request: chat not found');
    if (this.blockedBy.has(chatId)) return failure(403, 'Forbidden: bot was blocked by the user');
    return this.deliverTo(chatId, { botToken, text });
  }

  private sendFile(botToken: string, method: string, body: any): ProviderResponse {
    if (body === null) return failure(400, 'Bad Request: there is no end of the body');
    const { field, maxBytes, types } = FILE_METHODS[method]!;
    const given: SimulatedFile | string | undefined = body[field];
    const chatId = Number(body.chat_id);
    if ([...(body.caption ?? '')].length > 1024)
      return failure(400, 'Bad Request: message caption is too long');
    if (!(chatId > 0) || this.unknownChats.has(chatId)) return failure(400, 'Bad Request: chat not found');
    if (this.blockedBy.has(chatId)) return failure(403, 'Forbidden: bot was blocked by the user');
    if (given === undefined) return failure(400, `Bad Request: there is no ${field} in the request`);
    if (typeof given === 'string') {
      const known = this.files.find(given);
      if (!known || known.botToken !== botToken)
        return failure(400, 'Bad Request: wrong file identifier/HTTP URL specified');
      if (known.field !== field) return failure(400, 'Bad Request: type of file mismatch');
      return this.deliverTo(
        chatId,
        { botToken, text: body.caption ?? '', file: { ...known, method } },
        field,
        given,
      );
    }
    if (given.size === 0) return failure(400, 'Bad Request: file must be non-empty');
    if (given.size > maxBytes) return failure(413, 'Request Entity Too Large');
    if (!types.test(given.type)) return failure(400, 'Bad Request: IMAGE_PROCESS_FAILED');
    const fileId = this.files.add(given, { field, botToken });
    if (fileId === null) return failure(400, 'Bad Request: the file was uploaded before');
    return this.deliverTo(
      chatId,
      { botToken, text: body.caption ?? '', file: { ...given, method } },
      field,
      fileId,
    );
  }

  private deliverTo(
    chatId: number,
    sent: Pick<TelegramSent, 'botToken' | 'text' | 'file'>,
    field = 'text',
    fileId?: string,
  ): ProviderResponse {
    const messageId = this.nextMessageId++;
    this.sent.push({ chatId, messageId, ...sent });
    const chat = { id: chatId, type: 'private', first_name: 'Ana' };
    const file = { file_id: fileId, file_unique_id: `u${fileId}` };
    const content =
      fileId === undefined ? { text: sent.text } : { [field]: field === 'photo' ? [file, file] : file };
    return ok({ message_id: messageId, chat, date: Math.floor(Date.now() / 1000), ...content });
  }
}

function botId(token: string): number {
  return Number(token.split(':')[0]);
}

function ok(result: unknown): ProviderResponse {
  return { status: 200, body: { ok: true, result } };
}

function failure(code: number, description: string, more: object = {}): ProviderResponse {
  return { status: code, body: { ok: false, error_code: code, description, ...more } };
}

function refused(code: number, description: string, more: object = {}): Trouble {
  return { kind: 'refusal', response: failure(code, description, more) };
}
