import { once } from 'node:events';
import { createServer, Server } from 'node:http';
import { AddressInfo, connect, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { EventStream } from './event-stream';

/** Far more than the kernel takes on behalf of a client. */
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

  const sendUntilOver = async () => {
    const data = { text: 'x'.repeat(1000) };
    for (let n = 0; n < ENOUGH_EVENTS && stream.isOpen; n++) {
      stream.send('message', n, data);
      await setImmediate();
    }
    return !stream.isOpen;
  };

  it('drops a client that does not read, and says that it is over', async () => {
    let isOver = false;
    stream.onEnd(() => (isOver = true));
    stream.begin();
    client.pause();
    expect(await sendUntilOver()).toBe(true);
    await setImmediate();
    expect(isOver).toBe(true);
  });

  it('keeps one that reads', async () => {
    stream.begin();
    client.resume();
    expect(await sendUntilOver()).toBe(false);
  });

  it('sends nothing before it has begun', async () => {
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

  it('says at once that it is over, if its client has hung up already', async () => {
    client.destroy();
    await new Promise<void>((resolve) => stream.onEnd(resolve));
    let isOver = false;
    stream.onEnd(() => (isOver = true));
    expect(isOver).toBe(true);
  });
});
