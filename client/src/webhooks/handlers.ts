import { type EventHandler, type HandlerOptions, readBytes, WebhookReceiver } from './receiver.ts';

/** Request of Node's `http`, or of a framework that is based on it. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  method?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  /** Raw body, as Nest with `rawBody: true`, Google Cloud Functions and Firebase store it. */
  rawBody?: unknown;
  /** Body from a parser that ran before the handler. Used only if it is text or bytes. */
  body?: unknown;
}

/** Response of Node's `http`, or of a framework that is based on it. */
export interface NodeResponse {
  statusCode: number;
  end(text: string): unknown;
}

/**
 * Returns a webhook handler for Node's `http`, Express, Fastify and Nest. The handler responds with 204 if
 * the event was handled, and with 401 if the webhook is not genuine. It responds with 405 if the method is
 * not POST, and with 413 if the body that it reads is larger than 1 MiB. If `onEvent` throws, it responds
 * with 500, and the service sends the webhook again.
 *
 * @param secrets the endpoint's secret, `whsec_…`, or the new and the previous one while the service signs
 *   with both
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
 * Returns a webhook handler for frameworks that pass a `Request` and expect a `Response`: Next's route
 * handlers, Hono, Deno, Bun, Cloudflare Workers. The handler responds with the status codes that
 * `nodeHandler` explains: 204, 401, 405, 413 or 500.
 *
 * @param secrets the endpoint's secret, `whsec_…`, or the new and the previous one while the service signs
 *   with both
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
