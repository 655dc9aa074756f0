import { AddressInfo } from 'node:net';
import { NestExpressApplication } from '@nestjs/platform-express';
import axios, { Method } from 'axios';
import { TOTP } from 'otpauth';
import { createApp } from '../../dashboard/server/src/create-app';
import { DashboardConfig } from '../../dashboard/server/src/config/dashboard-config';
import { createLogger } from '../../src/common/logger';
import { SYSTEM } from '../../src/access/principal';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { Fixtures } from './fixtures';
import { environmentOf } from './service-process';
import { TestStores } from './test-database';
import { TestStream } from './test-stream';
import { listenOrClose } from './listen-or-close';
import { forgetStop, stopAtEnd } from './stop-at-end';

export const PASSWORD = 'correct horse battery';

export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  /** Body of the answer, parsed if it is JSON. */
  body: any;
}

/** The dashboard in this process, configured as its own process is, beside a service. */
export class TestDashboard {
  private constructor(
    readonly app: NestExpressApplication,
    readonly baseUrl: string,
    /** Name of the dashboard's host, as its proxy passes it on. */
    private readonly host: string,
  ) {}

  static async create(
    stores: TestStores,
    env: Record<string, string> = {},
    pageFolder?: string,
  ): Promise<TestDashboard> {
    const config = DashboardConfig.from({
      ...environmentOf(stores, 'api'),
      APP_URL: 'http://localhost:3100',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
      // Each browser has an address of its own.
      TRUST_PROXY: 'loopback',
      ...env,
    });
    const app = await createApp(config, createLogger(config.http.logLevel), pageFolder);
    await listenOrClose(app, config.http);
    const { port } = app.getHttpServer().address() as AddressInfo;
    const { host } = new URL(config.appOrigin);
    const dashboard = new TestDashboard(app, `http://127.0.0.1:${port}`, host);
    return stopAtEnd(dashboard, () => dashboard.close());
  }

  /** Returns a service of the package, as the dashboard's controllers get it. */
  get<T>(service: new (...injected: never[]) => T): T {
    return this.app.get<T>(service, { strict: false });
  }

  get make(): Fixtures {
    return new Fixtures({ get: (service) => this.app.get(service as never, { strict: false }) });
  }

  /** A new browser that has not logged in. */
  get browser(): Browser {
    return new Browser(this.baseUrl, this.host);
  }

  /** Invites an agent, and returns the token of the link. */
  async invite({ tenantId, id }: AgentEntity): Promise<string> {
    const { link } = await this.get(InvitationsService).invite(tenantId, id, {}, SYSTEM);
    return new URL(link!).hash.slice(1);
  }

  /** Returns a browser in which an agent has set a password and is logged in. */
  async logIn(agent: AgentEntity): Promise<Browser> {
    const { browser } = this;
    const token = await this.invite(agent);
    const { status, body } = await browser.post('/api/links/accept', { token, password: PASSWORD });
    if (status !== 200) throw new Error(`the invitation was answered ${status}: ${JSON.stringify(body)}`);
    return browser;
  }

  async close(): Promise<void> {
    if (!forgetStop(this)) return;
    this.app.getHttpServer().closeAllConnections();
    await this.app.close();
  }
}

/** A client that keeps cookies, and sends changes as the dashboard's own page does. */
export class Browser {
  private static count = 0;

  readonly cookies = new Map<string, string>();
  private readonly address: string;

  constructor(
    private readonly baseUrl: string,
    private readonly host: string,
  ) {
    Browser.count += 1;
    this.address = `10.1.${Browser.count >> 8}.${Browser.count & 255}`;
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  /** Downloads a file. */
  async getBytes(path: string): Promise<{ status: number; headers: Answer['headers']; body: Buffer }> {
    const { status, headers, data } = await axios.get<Buffer>(this.baseUrl + path, {
      headers: { host: this.host, 'x-forwarded-for': this.address, cookie: this.cookie },
      proxy: false,
      responseType: 'arraybuffer',
      validateStatus: () => true,
    });
    return { status, headers: headers as Answer['headers'], body: data };
  }

  patch(path: string, body: object): Promise<Answer> {
    return this.send('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path, {});
  }

  post(path: string, body: object = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  /** Sends the bytes of a file, as the page does. */
  putBytes(path: string, bytes: Buffer): Promise<Answer> {
    return this.send('PUT', path, bytes, { 'content-type': 'application/octet-stream' });
  }

  /** Opens a stream of server-sent events. */
  stream(path: string): Promise<TestStream> {
    return TestStream.open(this.baseUrl + path, { 'x-forwarded-for': this.address, cookie: this.cookie });
  }

  /** Turns a second factor on, and returns its secret. */
  async secure(): Promise<string> {
    const { body } = await this.post('/api/account/second-factor', { password: PASSWORD });
    const { secret } = body as { secret: string };
    const { status } = await this.post('/api/account/second-factor/confirm', {
      code: new TOTP({ secret }).generate(),
    });
    if (status !== 200) throw new Error(`the code was answered ${status}`);
    return secret;
  }

  async send(
    method: Method,
    path: string,
    body?: object | string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isChange = method !== 'GET' && method !== 'HEAD';
    const { cookie } = this;
    const answer = await axios.request<string>({
      method,
      url: this.baseUrl + path,
      data: isRaw(body) ? body : JSON.stringify(body),
      headers: {
        host: this.host,
        'x-forwarded-for': this.address,
        ...(isChange && { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }),
        ...(cookie && { cookie }),
        ...headers,
      },
      proxy: false,
      maxRedirects: 0,
      responseType: 'text',
      validateStatus: () => true,
      transformRequest: [(data: unknown) => data],
      transformResponse: [(data: unknown) => data],
    });
    const received = answer.headers as Answer['headers'];
    this.keep([received['set-cookie'] ?? []].flat());
    const isJson = answer.data !== '' && String(received['content-type']).startsWith('application/json');
    return {
      status: answer.status,
      headers: received,
      body: isJson ? (JSON.parse(answer.data) as unknown) : answer.data,
    };
  }

  private get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private keep(cookies: string[]): void {
    for (const cookie of cookies) {
      const [pair, ...attributes] = cookie.split('; ');
      const [name, value] = pair!.split('=') as [string, string];
      const hasEnded = attributes.some((attribute) => attribute === 'Expires=Thu, 01 Jan 1970 00:00:00 GMT');
      if (hasEnded) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

function isRaw(body: unknown): boolean {
  return typeof body === 'string' || body === undefined || Buffer.isBuffer(body);
}
