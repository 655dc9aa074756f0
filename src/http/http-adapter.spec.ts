import { AddressInfo } from 'node:net';
import { Controller, Get, HttpCode, INestApplication, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { HttpAdapter } from './http-adapter';

class Money {
  constructor(private readonly cents: number) {}

  toJSON(): string {
    return (this.cents / 100).toFixed(2);
  }
}

@Controller()
class BodiesController {
  @Get('object')
  object(): object {
    return { text: 'Zoë 📦', nested: { none: null, missing: undefined, at: new Date(0) } };
  }

  @Get('array')
  array(): number[] {
    return [1, 2];
  }

  @Get('text')
  text(): string {
    return 'text';
  }

  @Get('nothing')
  nothing(): void {}

  @Get('instance')
  instance(): Money {
    return new Money(150);
  }

  @Post('created')
  create(): object {
    return { id: 1 };
  }

  @Get('accepted')
  @HttpCode(202)
  accepted(): object {
    return { id: 1 };
  }

  @Get('tagged')
  tagged(@Res({ passthrough: true }) response: Response): object {
    response.setHeader('ETag', '"1"');
    return { id: 1 };
  }

  @Get('request')
  request(@Req() request: Request): object {
    const { path, query, ip, protocol, hostname } = request;
    return { path, query, ip, protocol, hostname, accepts: request.accepts('json') };
  }
}

@Module({ controllers: [BodiesController] })
class BodiesModule {}

interface Answer {
  status: number;
  headers: object;
  body: string;
}

describe('HttpAdapter answers as Nest over Express does', () => {
  let own: INestApplication;
  let stock: INestApplication;

  const start = async (adapter: ExpressAdapter) => {
    const app = await NestFactory.create(BodiesModule, adapter, { logger: false });
    adapter.getInstance<{ disable(name: string): void }>().disable('etag');
    await app.listen(0, '127.0.0.1');
    return app;
  };

  beforeAll(async () => {
    own = await start(new HttpAdapter());
    stock = await start(new ExpressAdapter());
  });
  afterAll(() => Promise.all([own.close(), stock.close()]));

  async function ask(app: INestApplication, path: string, init: RequestInit): Promise<Answer> {
    const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const headers = { ...Object.fromEntries(response.headers), date: '' };
    return { status: response.status, headers, body: await response.text() };
  }

  it.each<[string, RequestInit]>([
    ['/object', {}],
    ['/object', { method: 'HEAD' }],
    ['/array', {}],
    ['/text', {}],
    ['/nothing', {}],
    ['/instance', {}],
    ['/created', { method: 'POST' }],
    ['/accepted', {}],
    ['/tagged', {}],
    ['/tagged', { headers: { 'if-none-match': '"1"' } }],
    ['/tagged', { headers: { 'if-none-match': '"2"' } }],
    ['/request?q=1', {}],
    ['/unknown', {}],
  ])('%s %j', async (path, init) => {
    const answer = await ask(own, path, init);
    expect(answer).toEqual(await ask(stock, path, init));
    expect(answer.status).toBeGreaterThanOrEqual(200);
  });
});
