import { createServer, IncomingMessage, request, Server, ServerResponse } from 'node:http';
import { AddressInfo, Socket } from 'node:net';
import { stopAtEnd } from '../support/stop-at-end';

/** Part of a stream that a buffering proxy holds back: the events alone, or the answer's head as well. */
type HeldBack = 'nothing' | 'events' | 'everything';

const REFUSED_HEADERS = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
const REFUSED_BODY = JSON.stringify({ error: { code: 'INVALID_BODY', message: 'Refused.' } });

interface SeenRequest {
  method: string;
  path: string;
}

interface OpenStream {
  answer: ServerResponse;
  isSilent: boolean;
}

/** HTTP proxy between visitors' browsers and the service, with the faults of real proxies. */
export class Network {
  /** Requests of the browsers, including preflights, oldest first. */
  readonly requests: SeenRequest[] = [];
  droppedEvents = 0;
  lostAnswers = 0;
  private readonly streams = new Set<OpenStream>();
  private readonly sockets = new Set<Socket>();
  private server: Server;
  private address = 0;
  private heldBack: HeldBack = 'nothing';
  private isDropping = false;
  private readonly stalled = new Set<ServerResponse>();
  private isStalling = false;
  private answersToLose = 0;
  private messagesToRefuse = 0;

  private constructor(
    private service: URL,
    readonly port: number,
  ) {}

  static async to(service: string): Promise<Network> {
    const free = createServer();
    const port = await listen(free, 0);
    await new Promise((resolve) => free.close(resolve));
    const network = new Network(new URL(service), port);
    await network.restore();
    return stopAtEnd(network, () => network.cut());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sends new requests to another process. */
  switchTo(service: string): void {
    this.service = new URL(service);
  }

  /** Gives the next visitor another address, because the service limits requests by address. */
  changeAddress(): void {
    this.address = (this.address + 1) % 65_000;
  }

  /** Ends every connection, and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restore(): Promise<void> {
    this.server = createServer((asked, answer) => this.pass(asked, answer));
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    await listen(this.server, this.port);
  }

  get openStreams(): number {
    return this.streams.size;
  }

  /** Ends the open streams at once, even in the middle of an event. */
  killStreams(): void {
    for (const { answer } of this.streams) answer.destroy();
  }

  /** Silences the open streams, as when a machine on the way vanishes. New streams work. */
  silenceStreams(): void {
    for (const stream of this.streams) stream.isSilent = true;
  }

  /** Leaves requests without an answer, and open streams without an event. Nothing is refused. */
  stall(): void {
    this.isStalling = true;
    this.silenceStreams();
  }

  /** Lets new requests be answered again. Waiting requests are cut off. */
  endStall(): void {
    this.isStalling = false;
    for (const answer of this.stalled) answer.destroy();
    this.stalled.clear();
  }

  /** Drops the `message` events of every stream; other events pass. */
  dropMessages(isDropping: boolean): void {
    this.isDropping = isDropping;
  }

  /** Holds back streams opened from now on, like a proxy that waits for the end of an answer. */
  holdBackStreams(heldBack: HeldBack): void {
    this.heldBack = heldBack;
  }

  /** Drops the answers to the next messages: the service stores them, but the browser does not hear of it. */
  loseAnswers(count: number): void {
    this.answersToLose = count;
  }

  /** Answers the next messages with 400. The service does not see them. */
  refuseMessages(count: number): void {
    this.messagesToRefuse = count;
  }

  /** Ends all faults for connections that come next. */
  heal(): void {
    this.endStall();
    this.isDropping = false;
    this.heldBack = 'nothing';
    this.answersToLose = 0;
    this.messagesToRefuse = 0;
  }

  private pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { method = '', url = '', headers } = asked;
    this.requests.push({ method, path: new URL(url, this.url).pathname });
    if (this.isStalling) return void this.stalled.add(answer);
    if (this.messagesToRefuse > 0 && isMessage(method, url)) {
      this.messagesToRefuse -= 1;
      return void answer.writeHead(400, REFUSED_HEADERS).end(REFUSED_BODY);
    }
    const onward = request(new URL(url, this.service), {
      method,
      headers: { ...headers, host: this.service.host, 'x-forwarded-for': this.addressOf() },
    });
    // An error at one end closes both.
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    onward.on('response', (answered) => {
      answered.on('error', () => answer.destroy());
      if (this.isToBeLost(method, url)) answer.destroy();
      else if (answered.headers['content-type']?.startsWith('text/event-stream'))
        this.stream(answered, answer);
      else {
        answer.writeHead(answered.statusCode!, answered.headers);
        answered.pipe(answer);
      }
    });
    asked.pipe(onward);
  }

  private isToBeLost(method: string, url: string): boolean {
    if (this.answersToLose === 0 || !isMessage(method, url)) return false;
    this.answersToLose -= 1;
    this.lostAnswers += 1;
    return true;
  }

  /** Passes a stream on event by event, because a fault loses whole events. */
  private stream(answered: IncomingMessage, answer: ServerResponse): void {
    const { heldBack } = this;
    const stream: OpenStream = { answer, isSilent: heldBack !== 'nothing' };
    this.streams.add(stream);
    answer.on('close', () => this.streams.delete(stream));
    if (heldBack !== 'everything') {
      answer.writeHead(answered.statusCode!, answered.headers);
      answer.flushHeaders();
    }
    let text = '';
    answered.setEncoding('utf8');
    answered.on('data', (chunk: string) => {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) this.carry(event, stream);
    });
    answered.on('end', () => answer.end());
  }

  private carry(event: string, { answer, isSilent }: OpenStream): void {
    if (isSilent) return;
    if (this.isDropping && event.includes('event: message')) this.droppedEvents += 1;
    else answer.write(`${event}\n\n`);
  }

  private addressOf(): string {
    return `10.1.${this.address >> 8}.${this.address & 255}`;
  }
}

function isMessage(method: string, url: string): boolean {
  return method === 'POST' && url.endsWith('/messages');
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
