import { toJson } from '../json';

const TIMEOUT_MS = 20_000;
/** Milliseconds without progress after which an upload is ended. */
const STALLED_MS = 60_000;

/** Thrown when the service answers a request with an error, or does not answer it (status 0). */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** Returns the HTTP status of a ServiceError; 0 for any other error, and if the service did not answer. */
export const statusOf = (error: unknown): number => (error instanceof ServiceError ? error.status : 0);

/** Reports whether the service refuses the visitor or page, so that a retry does not help. */
export const isRefusal = (error: unknown): boolean => [401, 403, 404].includes(statusOf(error));

/** Reports whether the service refuses one request for its content, so that other requests may succeed. */
export const isRefusedRequest = (error: unknown): boolean =>
  [400, 409, 413, 415, 422].includes(statusOf(error));

/** Returns the code of the first reason or fault in the service's answer; an empty text if there is none. */
export function reasonOf(error: unknown): string {
  return /"(?:reason|code)":"([a-z_]+)"/.exec(String(error))?.[1] ?? '';
}

/** Returns the milliseconds in the `Retry-After` header of the service's answer; 0 if it was missing. */
export const retryAfterMsOf = (error: unknown): number =>
  error instanceof ServiceError ? error.retryAfterMs : 0;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Call {
  token?: string | null;
  body?: object;
}

/** Sends requests to the service, for the widget with one site key. */
export class ServiceClient {
  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly serviceUrl: string,
    private readonly Request: typeof XMLHttpRequest | undefined,
  ) {}

  async call<Answer>(method: Method, path: string, call: Call = {}): Promise<Answer> {
    try {
      const response = await this.request(method, path, call, AbortSignal.timeout(TIMEOUT_MS));
      // An answer with status 204 has no body.
      return (response.status === 204 ? null : await response.json()) as Answer;
    } catch (error) {
      throw error instanceof ServiceError ? error : new ServiceError(0, String(error));
    }
  }

  /** Opens the stream of events. The stream stays open until the service ends it or the signal aborts. */
  async openStream(token: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return (await this.request('GET', '/events', { token }, signal)).body!;
  }

  /** Reads a file. There is no limit of time, because the file may be large and the connection slow. */
  async readFile(path: string, token: string, signal: AbortSignal): Promise<Blob> {
    try {
      return await (await this.request('GET', path, { token }, signal)).blob();
    } catch (error) {
      throw error instanceof ServiceError ? error : new ServiceError(0, String(error));
    }
  }

  /**
   * Sends the bytes of a file. It ends an upload that has not advanced for a while.
   *
   * @param onProgress receives the part of the file, from 0 to 1, that is sent
   */
  upload(
    path: string,
    token: string,
    blob: Blob,
    signal: AbortSignal,
    onProgress: (part: number) => void,
  ): Promise<void> {
    // A fetch tells nothing of its progress. An old loader in the browser's cache passes no XMLHttpRequest.
    const request = new (this.Request ?? XMLHttpRequest)();
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const abort = () => request.abort();
      const advance = () => {
        clearTimeout(timer);
        timer = setTimeout(abort, STALLED_MS);
      };
      request.upload.onprogress = ({ loaded }) => {
        advance();
        onProgress(loaded / blob.size);
      };
      request.onloadend = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        const { status } = request;
        if (status >= 200 && status < 300) return resolve();
        const seconds = Number(status && request.getResponseHeader('Retry-After'));
        reject(new ServiceError(status, request.responseText, seconds > 0 ? seconds * 1000 : 0));
      };
      signal.addEventListener('abort', abort);
      request.open('PUT', this.serviceUrl + path);
      request.setRequestHeader('Authorization', `Bearer ${token}`);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      advance();
      if (signal.aborted) request.onloadend(new ProgressEvent('loadend'));
      else request.send(blob);
    });
  }

  private async request(method: string, path: string, call: Call, signal: AbortSignal): Promise<Response> {
    const response = await this.fetch(this.serviceUrl + path, {
      method,
      signal,
      headers: {
        ...(call.token && { Authorization: `Bearer ${call.token}` }),
        ...(call.body && { 'Content-Type': 'application/json' }),
      },
      ...(call.body && { body: toJson(call.body) }),
      credentials: 'omit',
      cache: 'no-store',
    });
    if (response.ok) return response;
    const seconds = Number(response.headers.get('Retry-After'));
    throw new ServiceError(response.status, await response.text(), seconds > 0 ? seconds * 1000 : 0);
  }
}
