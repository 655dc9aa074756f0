import { IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import { Fault, makeFault } from '../../common/error-texts';
import { ReceiverConnection } from './receiver-connection';

export const MAX_HEAD_KIB = 64;
/** Largest number of interim (1xx) answers before the final answer. */
const MAX_INTERIM_ANSWERS = 1_000;
/** Milliseconds by which an unused connection closes before the end of the receiver's Keep-Alive time. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** Error for an answer that the HTTP parser accepts but this service refuses. Users read its message. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';

  constructor({ message }: Fault) {
    super(message);
  }
}

export interface PostRequest {
  path: string;
  /** Header names and values in turn, Host and Content-Length included. */
  headers: string[];
  body: Buffer;
}

/** Head of an answer with raw headers, as Node's header objects can't contain one named `constructor`. */
export type AnswerHead = Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>;

/** Returns the headers in their order: each name, in lower case, with its value. */
export function headersOfAnswer({ rawHeaders }: AnswerHead): [name: string, value: string][] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]!]] : []));
}

export interface AnswerHandler {
  onHead(head: AnswerHead): void;
  onData(chunk: Buffer): void;
  /**
   * Is called when the answer is complete.
   * @param keepMs milliseconds to keep the connection; null if the receiver names none, 0 to close it
   */
  onEnd(keepMs: number | null): void;
  onError(error: Error): void;
}

/**
 * Sends a POST, and reads its answer with Node's HTTP client. An answer whose head is not strict HTTP/1.1 (a
 * folded field, a length beside chunks, lines without CR) is parsed again with the client's lenient parser.
 * The connection then carries no further request, because two parsers may disagree where such an answer ends.
 */
export function sendPost(connection: ReceiverConnection, post: PostRequest, handler: AnswerHandler): void {
  exchange(connection.beginExchange(), connection, post, handler, false);
}

function exchange(
  stream: Duplex,
  connection: ReceiverConnection,
  { path, headers, body }: PostRequest,
  handler: AnswerHandler,
  isLenient: boolean,
): void {
  let interimAnswers = 0;
  let answer: IncomingMessage | null = null;
  const refuse = (error: AnswerRefused) => {
    stream.destroy();
    handler.onError(error);
  };
  const switched = () => refuse(new AnswerRefused(makeFault('answer_switched')));
  request({
    method: 'POST',
    path,
    headers,
    createConnection: () => stream,
    maxHeaderSize: MAX_HEAD_KIB * 1024,
    insecureHTTPParser: isLenient,
  })
    .on('information', () => {
      if (++interimAnswers > MAX_INTERIM_ANSWERS)
        refuse(new AnswerRefused(makeFault('answer_interim', { max: MAX_INTERIM_ANSWERS })));
    })
    .on('upgrade', switched)
    .on('response', (response) => {
      if (response.statusCode === 101) return switched();
      answer = response;
      connection.forgetHead();
      handler.onHead(response);
      response.on('data', (chunk: Buffer) => handler.onData(chunk));
      response.on('end', () => handler.onEnd(isLenient || stream.destroyed ? 0 : keepMsOf(response)));
      response.on('error', (error) => handler.onError(error));
    })
    .on('error', (error) => {
      const again = !isLenient && isLoose(error) && connection.beginAgain();
      if (again) return exchange(again, connection, { path, headers, body }, handler, true);
      // Reads on, so that the part of the body that arrived before the error is passed on.
      while (answer?.read()) continue;
      handler.onError(error);
    })
    .end(body);
}

/** Reports whether the strict parser refused an answer that the lenient parser may accept. */
function isLoose({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && code.startsWith('HPE_') && code !== 'HPE_HEADER_OVERFLOW';
}

/** Returns how many milliseconds the receiver keeps the connection; null if it does not say. */
function keepMsOf(answer: IncomingMessage): number | null {
  if (answer.httpVersion !== '1.1') return 0;
  let keepMs: number | null = null;
  for (const [name, value] of headersOfAnswer(answer)) {
    if (name === 'connection' && /\bclose\b/i.test(value)) return 0;
    const seconds = name === 'keep-alive' && /\btimeout=(\d+)/i.exec(value)?.[1];
    if (seconds) keepMs = Math.max(0, Number(seconds) * 1_000 - KEEP_ALIVE_MARGIN_MS);
  }
  return keepMs;
}
