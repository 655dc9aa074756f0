import { type EventHandler, type HandlerOptions, readBytes, WebhookReceiver } from './receiver.ts';

/** Request of Node's `http`, and of the frameworks upon it. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  method?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  /** Raw body, where a framework keeps one: Nest with `rawBody: true`, Google's and Firebase's functions. */
  rawBody?: unknown;
  /** Body that a parser before the handler has left. */
  body?: unknown;
}

/** Answer of Node's `http`, and of the frameworks upon it. */
export interface NodeResponse {
  statusCode: number;
  end(text: string): unknown;
}

/**
 * Makes a handler of webhooks for Node's `http`, Express, Fastify and Nest. It answers 204 when the event
 * was handled, 401 when the webhook is not genuine, and 500 when `onEvent` throws: the service then sends it
 * again.
 *
 * @param secrets the endpoint's secret, `whsec_…`; two while it is rolled
 * @throws TypeError a secret is malformed
 */
export function nodeHandler(
  secrets: string | readonly string[],
  onEvent: EventHandler,
  options: HandlerOptions = {},
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receiver = new WebhookReceiver(secrets, onEvent, options);
  return async (request, response) => {
    const { status, text } = await receiver.receive(request.method, request.headers, () =>
      rawBodyOf(request),
    );
    response.statusCode = status;
    response.end(text);
  };
}

/**
 * Makes a handler of webhooks for everything that takes a `Request` and returns a `Response`: Next's route
 * handlers, Hono, Deno, Bun, Cloudflare Workers. It answers as `nodeHandler` does.
 *
 * @param secrets the endpoint's secret, `whsec_…`; two while it is rolled
 * @throws TypeError a secret is malformed
 */
export function fetchHandler(
  secrets: string | readonly string[],
  onEvent: EventHandler,
  options: HandlerOptions = {},
): (request: Request) => Promise<Response> {
  const receiver = new WebhookReceiver(secrets, onEvent, options);
  return async ({ method, headers, body }) => {
    const readBody = () => readBytes((body ?? []) as AsyncIterable<Uint8Array>);
    const { status, text } = await receiver.receive(method, headers, readBody);
    return new Response(text || null, { status });
  };
}

async function rawBodyOf(request: NodeRequest): Promise<string | Uint8Array> {
  for (const body of [request.rawBody, request.body])
    if (typeof body === 'string' || body instanceof Uint8Array) return body;
  const read = await readBytes(request);
  if (read.length === 0 && request.body !== undefined)
    throw new TypeError('The body was parsed before: let the handler come before the JSON parser.');
  return read;
}
