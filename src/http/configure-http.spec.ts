import { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Body, Controller, Get, HttpCode, Module, Post, Query, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestExpressApplication } from '@nestjs/platform-express';
import axios from 'axios';
import { IsString } from 'class-validator';
import type { Response } from 'express';
import { createLogger } from '../common/logger';
import { readHttpSettings } from '../config/http-settings';
import { MetricsModule } from '../metrics/metrics.module';
import { configureHttp } from './configure-http';
import { EventStreams } from './streams/event-streams';
import { HttpModule } from './http.module';

const MAX_STREAMS = 24;
const MAX_PER_CALLER = 10;

class Note {
  @IsString()
  text: string;
}

class StreamQuery {
  @IsString()
  workspace: string;

  @IsString()
  caller: string;
}

@Controller()
class NotesController {
  constructor(private readonly streams: EventStreams) {}

  @Post(['notes', 'public/notes'])
  @HttpCode(200)
  write(@Body() { text }: Note): { length: number } {
    return { length: text.length };
  }

  @Get('events')
  events(@Query() owner: StreamQuery, @Res() response: Response): void {
    const stream = this.streams.start(response, owner);
    stream.begin();
    stream.send('ready', 1, {});
  }
}

@Module({ imports: [MetricsModule, HttpModule], controllers: [NotesController] })
class NotesModule {}

describe('the edge of a host', () => {
  let app: NestExpressApplication;
  let baseUrl: string;
  const clients: AbortController[] = [];

  beforeEach(async () => {
    app = await NestFactory.create<NestExpressApplication>(NotesModule, { bodyParser: false, logger: false });
    const { settings } = readHttpSettings({}, 0);
    configureHttp(app, {
      logger: createLogger('silent'),
      trustProxy: 'loopback',
      limits: { ...settings.limits, maxStreams: MAX_STREAMS },
      bodyLimits: [{ path: /^\/public\//, bytes: 8 * 1024 }],
    });
    await app.listen(0, '127.0.0.1');
    baseUrl = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    clients.splice(0).forEach((client) => client.abort());
    await app.close();
  });

  describe('limits bodies by their routes', () => {
    const post = (path: string, bytes: number, compress = false) => {
      const body = JSON.stringify({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
      return axios.post<unknown>(baseUrl + path, compress ? gzipSync(body) : body, {
        headers: { 'content-type': 'application/json', ...(compress && { 'content-encoding': 'gzip' }) },
        validateStatus: () => true,
      });
    };
    const tooLarge = (size: string) => ({
      status: 413,
      data: { error: { code: 'PAYLOAD_TOO_LARGE', message: `The body is larger than ${size}.` } },
    });

    it.each([false, true])('compressed: %s', async (compress) => {
      expect((await post('/notes', 256 * 1024, compress)).status).toBe(200);
      expect(await post('/notes', 256 * 1024 + 1, compress)).toMatchObject(tooLarge('256 KiB'));
      expect((await post('/public/notes', 8 * 1024, compress)).status).toBe(200);
      expect(await post('/public/notes', 8 * 1024 + 1, compress)).toMatchObject(tooLarge('8 KiB'));
    });
  });

  describe('caps streams of server-sent events', () => {
    let next = 0;
    const open = async ({ workspace = 'acme', caller = `caller-${next++}`, address = '10.0.0.1' } = {}) => {
      const client = new AbortController();
      clients.push(client);
      const answer = await fetch(
        `${baseUrl}/events?${new URLSearchParams({ workspace, caller }).toString()}`,
        {
          headers: { 'x-forwarded-for': address },
          signal: client.signal,
        },
      );
      return { answer, close: () => client.abort() };
    };
    const openMany = async (count: number, owner: Parameters<typeof open>[0] = {}) => {
      const opened = [];
      for (let n = 0; n < count; n++) opened.push(await open(owner));
      expect(opened.map(({ answer }) => answer.status)).toEqual(Array(count).fill(200));
      return opened;
    };
    const expectRefused = async (
      { answer }: Awaited<ReturnType<typeof open>>,
      status: number,
      code: string,
    ) => {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '15']);
      expect(await answer.json()).toMatchObject({ error: { code } });
    };

    it('of a caller', async () => {
      const [first] = await openMany(MAX_PER_CALLER, { caller: 'ada' });
      await expectRefused(await open({ caller: 'ada' }), 429, 'RATE_LIMITED');
      await openMany(1, { caller: 'ben' });
      first!.close();
      for (let status = 0; status !== 200;) ({ status } = (await open({ caller: 'ada' })).answer);
    });

    it('of a workspace at half of the process, and of the process', async () => {
      await openMany(MAX_STREAMS / 2);
      await expectRefused(await open(), 429, 'RATE_LIMITED');
      await openMany(MAX_STREAMS / 4, { workspace: 'bolt' });
      await openMany(MAX_STREAMS / 4, { workspace: 'cord' });
      await expectRefused(await open({ workspace: 'dune' }), 503, 'UNAVAILABLE');
    });

    it('and ends them at shutdown, saying why', async () => {
      const [{ answer }] = (await openMany(1)) as [Awaited<ReturnType<typeof open>>];
      const text = answer.text();
      app.get(EventStreams).stop();
      expect(await text).toMatch(/event: end\ndata: {"reason":"server_stopping"}\n\n$/);
      expect((await open()).answer.status).toBe(503);
    });
  });
});
