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
