import { createServer, Server } from 'node:http';
import { AddressInfo, connect, Socket } from 'node:net';
import express, { Response } from 'express';
import { waitFor } from '../../../test/support/wait';
import { HttpLimits } from '../../config/http-settings';
import { Metrics } from '../../metrics/metrics';
import { Connections } from './connections';

const LIMITS: HttpLimits = {
  maxConnections: 100,
  maxStreams: 10,
  maxUnfinishedBytes: 1_048_576,
  headTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
};

describe('Connections with requests that wait', () => {
  const metrics = new Metrics();
  const clients: Socket[] = [];
  let server: Server;
  const answers: Response[] = [];
  let open = 0;
  let requests = 0;

  beforeAll(async () => {
    const connections = new Connections(metrics);
    const app = express().use(connections.track, (_, response) => void answers.push(response));
    server = createServer(app);
    connections.attach(server, LIMITS);
    server.on('request', () => (requests += 1));
    server.on('connection', (socket) => {
      open += 1;
      socket.once('close', () => (open -= 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (text: string): Socket => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    clients.push(client);
    client.write(text);
    return client;
  };
  const closedAsPipelined = async () =>
    (await metrics.httpConnectionsClosed.get()).values.find(({ labels }) => labels.reason === 'pipelined')
      ?.value ?? 0;

  it('are counted no more when their client has closed them', async () => {
    const request = `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(15_000)}\r\n\r\n`;
    // Each is a third of the limit.
    for (let n = 1; n <= 6; n++) {
      const client = send(request.repeat(20));
      await waitFor('all requests', () => requests === n * 20);
      client.destroy();
      await waitFor('the end', () => open === 0);
    }
    expect(await closedAsPipelined()).toBe(0);

    const honest = send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    await waitFor('the request', () => answers.length === 7);
    answers[6]!.end('first');
    await waitFor('the second request', () => answers.length === 8);
    answers[7]!.end('second');
    await new Promise((resolve) => honest.once('data', resolve));
    expect(await closedAsPipelined()).toBe(0);
  });
});
