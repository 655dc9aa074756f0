import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChannelWorkspace } from '../support/channel-workspace';
import { PDF } from '../support/files';
import { TelegramSimulator } from '../support/simulators/telegram';
import { Random } from './random';
import { SupervisedProcess } from './supervised-process';

const RETRY_MS = { least: 100, most: 400 };
/** Pause between an agent's messages, because a bot sends a chat one file a second. */
const SEND_EVERY_MS = { least: 500, most: 1_500 };
const RECEIVE_EVERY_MS = { least: 100, most: 600 };
const ANSWER_MS = 8_000;
const LARGEST_BYTES = 600_000;

export interface AcceptedMessage {
  id: string;
  conversationId: string;
  /** SHA-256 of each of its files, as hexadecimal digits. */
  hashes: string[];
}

export interface ReceivedMessage {
  caption: string;
  conversationId: string;
  hash: string;
}

export const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A customer's chat with a bot, in which the customer and an agent send each other files. */
export class FileTraffic {
  readonly accepted: AcceptedMessage[] = [];
  readonly received: ReceivedMessage[] = [];
  /** Answers that no fault explains. */
  readonly unexpected: string[] = [];
  retries = 0;
  private isOver = false;
  private count = 0;

  constructor(
    private readonly api: SupervisedProcess,
    private readonly telegram: TelegramSimulator,
    private readonly chat: {
      shop: ChannelWorkspace;
      botToken: string;
      chatId: number;
      conversationId: string;
    },
    private readonly random: Random,
  ) {}

  /** Sends messages from both sides until `end`. Settles when all that has begun is accepted. */
  async run(): Promise<void> {
    await Promise.all([
      this.repeat(SEND_EVERY_MS, () => this.send()),
      this.repeat(RECEIVE_EVERY_MS, () => this.receive()),
    ]);
  }

  end(): void {
    this.isOver = true;
  }

  /** Performs a request with the agent's key at the API process that runs now. */
  request(path: string, options: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const authorization = `Bearer ${this.chat.shop.tenant.key.key}`;
    return fetch(`${this.api.url}/api/v1${path}`, {
      ...options,
      headers: { authorization, ...options.headers },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  }

  private async repeat(pauseMs: { least: number; most: number }, act: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      await act();
      await sleep(this.random.between(pauseMs.least, pauseMs.most));
    }
  }

  /** Uploads one or two files, and sends them. */
  private async send(): Promise<void> {
    const { conversationId } = this.chat;
    const files = Array.from({ length: this.random.between(1, 2) }, () => this.newFile());
    const attachments: { uploadId: string }[] = [];
    for (const file of files) attachments.push({ uploadId: await this.upload(file) });
    const { message } = await this.post(`/conversations/${conversationId}/messages`, { attachments });
    this.accepted.push({ id: message.id, conversationId, hashes: files.map(hashOf) });
  }

  private async upload(file: Buffer): Promise<string> {
    const { conversationId } = this.chat;
    const name = `${++this.count}.pdf`;
    const { id } = await this.post('/uploads', {
      conversationId,
      name,
      size: file.length,
      sha256: hashOf(file),
    });
    const headers = { 'content-type': 'application/octet-stream' };
    const put = { method: 'PUT', body: new Uint8Array(file), headers };
    const stored = await this.insist(`PUT of ${name}`, () => this.request(`/uploads/${id}/content`, put));
    if (stored.sha256 !== hashOf(file)) this.unexpected.push(`${name} was stored with ${stored.sha256}`);
    return id;
  }

  private post(path: string, body: object): Promise<any> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const request = { method: 'POST', body: JSON.stringify(body), headers };
    return this.insist(`POST ${path}`, () => this.request(path, request));
  }

  /** Repeats a request until it succeeds, as the documentation tells clients to. */
  private async insist(what: string, request: () => Promise<Response>): Promise<any> {
    for (;;) {
      const answer = await request().catch(() => null);
      const text = await answer?.text().catch(() => null);
      if (answer?.ok && typeof text === 'string') return JSON.parse(text);
      if (answer && answer.status < 500 && answer.status !== 408 && answer.status !== 429) {
        this.unexpected.push(`${what} was answered with ${answer.status}: ${text}`);
        throw new Error(this.unexpected.at(-1));
      }
      if (answer?.status === 500) this.unexpected.push(`${what} was answered with 500: ${text}`);
      this.retries += 1;
      await sleep(this.random.between(RETRY_MS.least, RETRY_MS.most));
    }
  }

  /** Has the customer send a file. Telegram repeats an update until it is answered with 200. */
  private async receive(): Promise<void> {
    const { botToken, chatId, conversationId } = this.chat;
    const [bytes, caption] = [this.newFile(), `received ${++this.count}`];
    const fileId = `${chatId}-${this.count}`;
    const path = `/file/bot${botToken}/documents/${fileId}`;
    this.telegram.customerFiles.set(fileId, path);
    this.telegram.handedOut.set(path, { bytes, type: 'application/octet-stream' });
    const document = { file_id: fileId, file_name: `${fileId}.pdf`, mime_type: 'application/pdf' };
    const update = this.telegram.update(chatId, { document, caption });
    while ((await this.telegram.deliver(botToken, update).catch(() => 0)) !== 200) {
      this.retries += 1;
      await sleep(this.random.between(RETRY_MS.least, RETRY_MS.most));
    }
    this.received.push({ caption, conversationId, hash: hashOf(bytes) });
  }

  private newFile(): Buffer {
    const size = this.random.chance(0.3) ? LARGEST_BYTES : 5_000;
    return Buffer.concat([
      PDF,
      Buffer.from(`%${randomUUID()}\n`),
      Buffer.alloc(this.random.between(1, size), ' '),
    ]);
  }
}
