/** Answer of a vector: an HTTP answer, or how it fails to come. */
export type ScriptedAnswer =
  | { status: number; headers: Record<string, string>; body?: unknown; text?: string }
  | 'no connection'
  | 'no answer';

/** Request that a scripted `fetch` has got. */
export interface SeenRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
  /** Body that is no JSON: a file or a form. */
  content: RequestInit['body'];
  redirect: string | undefined;
  /** Time at which it was sent. */
  sentAt: number;
}

/** A `fetch` that gives the answers of a test's script in turn, and keeps the requests. */
export class ScriptedFetch {
  readonly requests: SeenRequest[] = [];

  constructor(private readonly answers: readonly ScriptedAnswer[]) {}

  readonly fetch: typeof fetch = (input, init = {}) => {
    const answer = this.answers[this.requests.length];
    this.requests.push({
      method: init.method ?? 'GET',
      url: new URL(input as string),
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      content: typeof init.body === 'string' ? undefined : init.body,
      redirect: init.redirect,
      sentAt: Date.now(),
    });
    if (answer === undefined) return Promise.reject(new Error('The script has no further answer.'));
    if (answer === 'no connection') return Promise.reject(new TypeError('fetch failed'));
    if (answer === 'no answer')
      return new Promise((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error)),
      );
    const { status, headers, body, text = body === undefined ? null : JSON.stringify(body) } = answer;
    return Promise.resolve(new Response(text || null, { status, headers }));
  };
}
