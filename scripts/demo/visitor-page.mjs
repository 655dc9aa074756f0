import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { LauncherError } from '../processes.mjs';

/**
 * A message of an agent, as the widget shows it.
 *
 * @typedef {{ id: string, senderName: string | null, text: string }} ReceivedMessage
 */

/** A page with the widget: a session, messages, and a live stream of events. */
export class VisitorPage {
  /** @type {ReceivedMessage[]} */
  received = [];

  #url;
  #headers;
  #events = new EventEmitter();

  /**
   * Begins a session, and waits for its stream.
   *
   * @param {object} options
   * @param {string} options.url the connection's hookUrl
   * @param {string} options.origin of the page
   * @param {object} [options.visitor] with the workspace's signature; without one they are anonymous
   */
  static async open({ url, origin, visitor }) {
    const page = new VisitorPage(url, { origin, 'content-type': 'application/json' });
    /** @type {{ token: string }} */
    const { token } = await page.post('sessions', { visitor });
    page.#headers.authorization = `Bearer ${token}`;
    await page.#listen();
    return page;
  }

  /**
   * @param {string} url
   * @param {Record<string, string>} headers
   */
  constructor(url, headers) {
    this.#url = url;
    this.#headers = headers;
  }

  /**
   * @template Answer the body of the response
   * @param {string} path
   * @param {object} body
   * @returns {Promise<Answer>}
   */
  async post(path, body) {
    const answer = await fetch(`${this.#url}/${path}`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(body),
    });
    if (answer.ok) return /** @type {Promise<Answer>} */ (answer.json());
    throw new LauncherError(
      `The widget's ${path} was answered with ${answer.status}: ${await answer.text()}`,
    );
  }

  /**
   * Sends a picture: an upload, its bytes, and a message that takes it.
   *
   * @param {{ name: string, bytes: Buffer }} picture
   */
  async sendPicture({ name, bytes }) {
    /** @type {{ id: string }} */
    const { id } = await this.post('uploads', { name, contentType: 'image/jpeg', size: bytes.length });
    const answer = await fetch(`${this.#url}/uploads/${id}/content`, {
      method: 'PUT',
      headers: { ...this.#headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    });
    if (!answer.ok) throw new LauncherError(`The widget's picture was answered with ${answer.status}.`);
    await this.post('messages', { clientMessageId: randomUUID(), attachments: [{ uploadId: id }] });
  }

  /** Waits for the first message of an agent. */
  async firstMessage() {
    const signal = AbortSignal.timeout(10_000);
    for (;;) {
      const [first] = this.received;
      if (first) return first;
      await once(this.#events, 'agent', { signal });
    }
  }

  /**
   * Opens the widget's stream of events for this visitor, and waits until the service says that it is ready.
   */
  async #listen() {
    const answer = await fetch(`${this.#url}/events`, { headers: this.#headers });
    if (!answer.ok || !answer.body)
      throw new LauncherError(`The widget's stream was answered with ${answer.status}.`);
    const ready = once(this.#events, 'ready', { signal: AbortSignal.timeout(10_000) });
    // The stream breaks when the service ends.
    this.#read(answer.body).catch(() => undefined);
    await ready;
  }

  /** @param {ReadableStream<Uint8Array>} stream */
  async #read(stream) {
    let text = '';
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#handle(block);
    }
  }

  /** @param {string} block of lines, one event */
  #handle(block) {
    const { event = '', data = '' } = Object.fromEntries(
      block.split('\n').map((line) => line.split(/: (.*)/s, 2)),
    );
    this.#events.emit(event);
    if (event !== 'message') return;
    /** @type {{ message: { id: string, senderType: string, senderName: string | null, body: string } }} */
    const { message } = JSON.parse(data);
    const { id, senderType, senderName, body } = message;
    if (senderType !== 'AGENT') return;
    this.received.push({ id, senderName, text: body });
    this.#events.emit('agent');
  }
}
