import { createHmac } from 'node:crypto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { SYSTEM } from '../../src/access/principal';
import { ApiClient, ApiResponse } from './api-client';
import { TestService } from './service';
import { TestStream } from './test-stream';

export const ORIGIN = 'https://shop.example';

/** A workspace's connected widget, and the pages that show it. */
export class TestWidget {
  readonly path: string;
  readonly identitySecret: string;

  private constructor(
    private readonly service: TestService,
    readonly connection: ConnectedChannel,
  ) {
    this.path = new URL(connection.hookUrl).pathname;
    this.identitySecret = connection.reveal['identitySecret']!;
  }

  static async connect(
    service: TestService,
    { id }: { id: string },
    allowedOrigins: string[] = [ORIGIN],
  ): Promise<TestWidget> {
    const input = { channel: 'WIDGET' as const, credentials: { allowedOrigins } };
    return new TestWidget(
      service,
      await service.app.get(ChannelConnectionsService).connect(id, input, SYSTEM),
    );
  }

  get siteKey(): string {
    return this.path.split('/').at(-1)!;
  }

  sign(id: string): string {
    return createHmac('sha256', this.identitySecret).update(id).digest('hex');
  }

  page(client: ApiClient = this.service.client, headers: Record<string, string> = {}): TestVisitor {
    return new TestVisitor(this, client.with({ origin: ORIGIN, ...headers }));
  }

  /** Creates a visitor with a session. */
  async visitor(service: TestService = this.service, body: object = {}): Promise<TestVisitor> {
    const page = this.page(service.client);
    const { status, body: session } = await page.open(body);
    if (status !== 201) throw new Error(`No session: ${status} ${JSON.stringify(session)}`);
    return page.as(session.token as string, service.baseUrl);
  }
}

/** A visitor's page, with or without a token. */
export class TestVisitor {
  constructor(
    private readonly widget: Pick<TestWidget, 'path'>,
    private readonly client: ApiClient,
    readonly token: string | null = null,
    private readonly baseUrl: string | null = null,
  ) {}

  as(token: string, baseUrl: string | null = this.baseUrl): TestVisitor {
    return new TestVisitor(
      this.widget,
      this.client.with({ authorization: `Bearer ${token}` }),
      token,
      baseUrl,
    );
  }

  open(body: unknown = {}): Promise<ApiResponse> {
    return this.send('POST', '/sessions', body);
  }

  post(clientMessageId: string, body = 'Do you ship to Spain?'): Promise<ApiResponse> {
    return this.send('POST', '/messages', { clientMessageId, body });
  }

  /** Makes an upload, and sends its bytes. Returns its id. */
  async upload(content: string | Buffer, file: object = {}): Promise<string> {
    const bytes = Buffer.from(content);
    const declared = { name: 'parcel.txt', size: bytes.length, ...file };
    const { status, body } = await this.send('POST', '/uploads', declared);
    if (status !== 201) throw new Error(`No upload: ${status} ${JSON.stringify(body)}`);
    const stored = await this.put(body.id as string, bytes);
    if (stored.status !== 200) throw new Error(`Not stored: ${stored.status} ${JSON.stringify(stored.body)}`);
    return body.id as string;
  }

  put(uploadId: string, raw: Buffer): Promise<ApiResponse> {
    const headers = { 'content-type': 'application/octet-stream' };
    return this.client.send({
      method: 'PUT',
      path: `${this.widget.path}/uploads/${uploadId}/content`,
      raw,
      headers,
    });
  }

  /** Sends a message with uploads; without a body, if it is undefined. */
  postFiles(clientMessageId: string, uploadIds: string[], body?: string): Promise<ApiResponse> {
    const attachments = uploadIds.map((uploadId) => ({ uploadId }));
    return this.send('POST', '/messages', { clientMessageId, body, attachments });
  }

  /** Reads the bytes of an attachment. */
  async content(attachmentId: string, headers: Record<string, string> = {}): Promise<Response> {
    const url = `${this.baseUrl!}${this.widget.path}/attachments/${attachmentId}/content`;
    return fetch(url, { headers: { authorization: `Bearer ${this.token!}`, origin: ORIGIN, ...headers } });
  }

  history(query = ''): Promise<ApiResponse> {
    return this.send('GET', `/messages${query}`);
  }

  receipt(messageId: string, status: string): Promise<ApiResponse> {
    return this.send('POST', '/receipts', { messageId, status });
  }

  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<ApiResponse> {
    return this.client.send({ method, path: this.widget.path + path, body });
  }

  stream(baseUrl: string = this.baseUrl!): Promise<TestStream> {
    const headers = { authorization: `Bearer ${this.token!}`, origin: ORIGIN };
    return TestStream.open(`${baseUrl}${this.widget.path}/events`, headers);
  }
}
