import { Agent } from 'node:http';
import axios, { AxiosInstance, Method } from 'axios';
import { ContractValidator } from './contract-validator';

export interface ApiRequest {
  method: Method;
  /** Path below the base URL, query string included: `/api/v1/me`. */
  path: string;
  headers?: Record<string, string>;
  /** Value that is sent as JSON. */
  body?: unknown;
  /** Text or bytes that are sent unchanged, instead of `body`. */
  raw?: string | Buffer;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  /** Parsed JSON of the answer. */
  body: any;
}

/**
 * Client of every end-to-end test. An answer that the OpenAPI document does not list, or describes otherwise,
 * fails the test.
 */
export class ApiClient {
  private readonly agent: Agent;
  private turn = 0;
  private readonly http: AxiosInstance;

  constructor(
    /** Base URLs of one process, or of several, which get the requests in turn. */
    private readonly baseUrls: string[],
    private readonly validator: ContractValidator | null,
    private readonly headers: Record<string, string> = {},
    agent?: Agent,
  ) {
    this.agent = agent ?? new Agent({ keepAlive: true });
    this.http = axios.create({
      httpAgent: this.agent,
      proxy: false,
      maxRedirects: 0,
      responseType: 'text',
      validateStatus: () => true,
      transformRequest: [(data: unknown) => data],
      transformResponse: [(data: unknown) => data],
    });
  }

  /** Returns a client that sends a key. */
  as({ key }: { key: string }): ApiClient {
    return this.with({ authorization: `Bearer ${key}` });
  }

  /** Returns a client that sends these headers with every request. */
  with(headers: Record<string, string>): ApiClient {
    return new ApiClient(this.baseUrls, this.validator, { ...this.headers, ...headers }, this.agent);
  }

  get(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send({ method: 'GET', path: `/api/v1${path}`, headers });
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send({ method: 'POST', path: `/api/v1${path}`, body, headers });
  }

  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send({ method: 'PATCH', path: `/api/v1${path}`, body, headers });
  }

  delete(path: string): Promise<ApiResponse> {
    return this.send({ method: 'DELETE', path: `/api/v1${path}` });
  }

  async send({ method, path, headers, body, raw }: ApiRequest): Promise<ApiResponse> {
    const data = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const { status, ...answer } = await this.http.request<string>({
      method,
      url: this.nextBaseUrl() + path,
      data,
      headers: {
        ...(data === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.headers,
        ...headers,
      },
    });
    const response: ApiResponse = {
      status,
      headers: answer.headers as Record<string, string>,
      body: JSON.parse(answer.data || 'null') as unknown,
    };
    this.validator?.check(method, path, response);
    return response;
  }

  /** Returns every row of a list, page by page. */
  async all(path: string, limit: number): Promise<any[]> {
    const rows: any[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const separator = path.includes('?') ? '&' : '?';
      const page: ApiResponse = await this.get(
        `${path}${separator}limit=${limit}${cursor && `&cursor=${cursor}`}`,
      );
      if (page.status !== 200) throw new Error(`${path} answered ${page.status}`);
      rows.push(...page.body.data);
      cursor = page.body.nextCursor as string | null;
    }
    return rows;
  }

  private nextBaseUrl(): string {
    return this.baseUrls[this.turn++ % this.baseUrls.length]!;
  }

  close(): void {
    this.agent.destroy();
  }
}
