import { once } from 'node:events';
import { createServer, Server } from 'node:http';
import { AddressInfo, connect, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { EventStream } from './event-stream';

/** Number of events that take far more bytes than the kernel buffers. */
const ENOUGH_EVENTS = 20_000;

describe('an event stream', () => {
  let server: Server;
  let client: Socket;
  let stream: EventStream;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, Response];
    stream = new EventStream(response);
  });
  afterEach(() => {
    client.destroy();
    server.close();
  });

  const sendUntilEnded = async () => {
    const data = { text: 'x'.repeat(1000) };
    for (let n = 0; n < ENOUGH_EVENTS && stream.isOpen; n++) {
      stream.send('message', n, data);
      await setImmediate();
    }
    return !stream.isOpen;
  };

  it('cuts off a client that does not read, and calls back', async () => {
    let hasEnded = false;
    stream.onEnd(() => (hasEnded = true));
    stream.begin();
    client.pause();
    expect(await sendUntilEnded()).toBe(true);
    await setImmediate();
    expect(hasEnded).toBe(true);
  });

  it('keeps a client that reads', async () => {
    stream.begin();
    client.resume();
    expect(await sendUntilEnded()).toBe(false);
  });

  it('sends nothing before it begins', async () => {
    stream.send('message', 1, {});
    stream.begin();
    stream.send('message', 2, { a: 1 });
    stream.end('widget_changed');
    let text = '';
    for await (const chunk of client) if ((text += String(chunk)).includes('widget_changed')) break;
    expect(text).toContain('event: message\nid: 2\ndata: {"a":1}\n\n');
    expect(text).toContain('event: end\ndata: {"reason":"widget_changed"}\n\n');
    expect(text).not.toContain('id: 1');
  });

  it('calls back at once if its client has hung up already', async () => {
    client.destroy();
    await new Promise<void>((resolve) => stream.onEnd(resolve));
    let hasEnded = false;
    stream.onEnd(() => (hasEnded = true));
    expect(hasEnded).toBe(true);
  });
});
