import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TelegramSimulator } from '../support/simulators/telegram';
import { ISO_TIME, NOWHERE, UUID, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('channel', () => {
  let telegram: TelegramSimulator;
  const botToken = TelegramSimulator.token();

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    Object.assign(cli.env, { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://chat.example' });
    await cli.call('workspace', 'create', '--name', 'Talks', '--slug', 'talks', '--plan', 'PRO');
  });
  afterAll(() => telegram.stop());

  const connect = ['channel', 'connect', '--workspace', 'talks', '--channel', 'telegram', '--credentials'];

  it('connects an account, lists it, rotates and disconnects it', async () => {
    writeFileSync(join(cli.folder, 'bot.json'), JSON.stringify({ botToken }));
    const { reveal, ...connected } = await cli.call(...connect, '@bot.json');
    expect(connected).toEqual({
      id: UUID,
      channel: 'TELEGRAM',
      externalId: botToken.split(':')[0],
      status: 'ACTIVE',
      hookUrl: telegram.webhooks.get(botToken)!.url,
      snippet: null,
      settings: {},
      credentialsExpireAt: null,
      lastReceivedAt: null,
      createdAt: ISO_TIME,
      updatedAt: ISO_TIME,
    });
    expect(reveal).toEqual({});
    expect(await cli.call('channel', 'list', '--workspace', 'talks')).toEqual({ data: [connected] });

    const { id } = connected;
    const rotated = await cli.call(
      'channel',
      'rotate',
      '--id',
      id,
      '--credentials',
      JSON.stringify({ botToken }),
    );
    expect(rotated).toEqual({ ...connected, reveal: {}, updatedAt: ISO_TIME });

    const disconnected = await cli.call('channel', 'disconnect', '--id', id);
    expect(disconnected).toMatchObject({ id, status: 'DISCONNECTED', providerFault: null });
    expect(telegram.webhooks.has(botToken)).toBe(false);
    expect(await cli.call('channel', 'list', '--workspace', 'talks')).toEqual({ data: [] });
    expect(await cli.refusal('channel', 'disconnect', '--id', id)).toMatchObject({
      code: 'NOT_FOUND',
      message: 'This channel connection is DISCONNECTED: connect the account anew.',
    });
  });

  it("prints the snippet for a workspace's pages with a widget", async () => {
    const credentials = JSON.stringify({ allowedOrigins: ['https://shop.example'] });
    const widget = ['--workspace', 'talks', '--channel', 'WIDGET', '--credentials', credentials];
    const { reveal, ...connected } = await cli.call('channel', 'connect', ...widget);
    const siteKey = (connected.hookUrl as string).split('/').at(-1);
    expect(connected.snippet).toBe(
      `<script async src="https://chat.example/widget/v1.js" data-site-key="${siteKey}"></script>`,
    );
    expect(reveal).toEqual({ identitySecret: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await cli.call('channel', 'list', '--workspace', 'talks')).toEqual({ data: [connected] });
    await cli.call('channel', 'disconnect', '--id', connected.id as string);
  });

  it('reads credentials from stdin, too', async () => {
    const { code, stderr } = await cli.runWith('{"botToken":"secret"}', cli.env, ...connect, '-');
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 1,
      error: { code: 'INVALID_BODY', details: [{ field: 'botToken' }] },
    });
    expect(stderr).not.toContain('secret');
  });

  it.each([
    [
      'no JSON',
      '{"botToken":"secret',
      'credentials must be a JSON object, @file or -; the argument is no JSON at position 19.',
    ],
    [
      'the name of a file',
      'secret',
      'credentials must be a JSON object, @file or -; the argument is no JSON.',
    ],
    ['no object', '["secret"]', 'credentials must be a JSON object, and the argument is another value.'],
    ['a file that is not there', '@absent.json', 'credentials cannot be read: the file absent.json: ENOENT.'],
    ['JSON after an @', '@{"botToken":"secret"}', 'credentials cannot be read: the file: ENOENT.'],
  ])('refuses credentials that are %s, without repeating them', async (_, given, message) => {
    const error = await cli.refusal(...connect, given);
    expect(error).toMatchObject({ code: 'INVALID_BODY', message });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('finds no connection with an id that is unknown', async () => {
    expect(await cli.refusal('channel', 'disconnect', '--id', NOWHERE)).toMatchObject({
      code: 'NOT_FOUND',
      message: 'Channel connection not found.',
    });
  });
});
