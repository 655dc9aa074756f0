import { IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import { Fault, makeFault } from '../../common/error-texts';
import { ReceiverConnection } from './receiver-connection';

export const MAX_HEAD_KIB = 64;
/** Number of interim (1xx) answers before the final one. */
const MAX_INTERIM_ANSWERS = 1_000;
/** Time between the end of an unused connection here and at the receiver, by its Keep-Alive header. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** Refusal of an answer that the parser takes. The message is for the customer. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';

  constructor({ message }: Fault) {
    super(message);
  }
}

export interface PostRequest {
  path: string;
  /** Names and values in turn, Host and Content-Length among them. */
  headers: string[];
  body: Buffer;
}

/**
 * Head of an answer. Its headers are read as they came: in Node's objects of them, one with the name
 * `constructor` has no place.
 */
export type AnswerHead = Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>;

/** Returns names, in lower case, and values of the headers, as they came. */
export function headersOfAnswer({ rawHeaders }: AnswerHead): [name: string, value: string][] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]!]] : []));
}

/** Receiver of the parts of an answer. */
export interface AnswerHandler {
  onHead(head: AnswerHead): void;
  onData(chunk: Buffer): void;
  /**
   * The answer is complete.
   * @param keepMs time for which the receiver keeps the connection, null if it does not say; 0 if the
   *   connection can't carry another request
   */
  onEnd(keepMs: number | null): void;
  onError(error: Error): void;
}

/**
 * Sends a POST, and reads its answer with Node's HTTP client. The head of an answer may not be strictly
 * HTTP/1.1: a folded field, a length beside chunks, lines without CR. Such an answer is read a second time
 * with the client's lenient parser. Its connection carries no further request: two parsers may not agree
 * where such an answer ends.
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
      // The part of the body that arrived before the error is read first.
      while (answer?.read()) continue;
      handler.onError(error);
    })
    .end(body);
}

/** Reports whether the strict parser refused an answer that the lenient one may take. */
function isLoose({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && code.startsWith('HPE_') && code !== 'HPE_HEADER_OVERFLOW';
}

/** Returns the time for which a connection can be kept, by the head of the answer on it. */
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
