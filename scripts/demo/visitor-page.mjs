import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import { LauncherError } from '../processes.mjs';

/** A page with the widget: a session, messages, and a live stream of events. */
export class VisitorPage {
  /** @type {{ id: string, senderName: string | null, text: string }[]} */
  received = [];

  #url;
  #headers;
  #events = new EventEmitter();

  /**
   * @param {object} options
   * @param {string} options.url the connection's hookUrl
   * @param {string} options.origin of the page
   * @param {object} [options.visitor] with the workspace's signature; without one they are anonymous
   */
  static async open({ url, origin, visitor }) {
    const page = new VisitorPage(url, { origin, 'content-type': 'application/json' });
    const { token } = await page.post('sessions', { visitor });
    page.#headers.authorization = `Bearer ${token}`;
    await page.#listen();
    return page;
  }

  constructor(url, headers) {
    this.#url = url;
    this.#headers = headers;
  }

  async post(path, body) {
    const answer = await fetch(`${this.#url}/${path}`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(body),
    });
    if (answer.ok) return answer.json();
    throw new LauncherError(
      `The widget's ${path} was answered with ${answer.status}: ${await answer.text()}`,
    );
  }

  /** The first message of an agent. */
  async firstMessage() {
    if (this.received.length === 0)
      await once(this.#events, 'agent', { signal: AbortSignal.timeout(10_000) });
    return this.received[0];
  }

  /** Resolves when the stream has begun. */
  async #listen() {
    const answer = await fetch(`${this.#url}/events`, { headers: this.#headers });
    if (!answer.ok) throw new LauncherError(`The widget's stream was answered with ${answer.status}.`);
    const ready = once(this.#events, 'ready', { signal: AbortSignal.timeout(10_000) });
    // The stream breaks when the service ends.
    this.#read(answer.body).catch(() => undefined);
    await ready;
  }

  async #read(stream) {
    let text = '';
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop();
      for (const block of blocks) this.#handle(block);
    }
  }

  #handle(block) {
    const { event, data } = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)));
    this.#events.emit(event);
    if (event !== 'message') return;
    const { id, senderType, senderName, body } = JSON.parse(data).message;
    if (senderType !== 'AGENT') return;
    this.received.push({ id, senderName, text: body });
    this.#events.emit('agent');
  }
}
