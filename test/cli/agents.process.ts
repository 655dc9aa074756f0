import { ISO_TIME, NOWHERE, UUID, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('agent', () => {
  it('creates agents and bots, lists them, and changes their role and whether they may act', async () => {
    const create = ['agent', 'create', '--workspace', 'acme'];
    const [ada, bot] = await Promise.all([
      cli.call(
        ...[...create, '--name', 'Ada Lovelace', '--display-name', 'Ada'],
        ...['--email', 'ada@example.com', '--role', 'OWNER'],
      ),
      cli.call(
        ...create,
        '--name',
        'Robo',
        '--email',
        'r@example.com',
        '--role',
        'AGENT',
        '--bot',
        '--inactive',
      ),
    ]);
    expect(ada).toMatchObject({
      ...{ id: UUID, name: 'Ada Lovelace', displayName: 'Ada' },
      ...{ role: 'OWNER', isBot: false, active: true },
    });
    expect(bot).toMatchObject({
      ...{ displayName: null, email: 'r@example.com' },
      ...{ role: 'AGENT', isBot: true, active: false },
    });

    const updated = await cli.call('agent', 'update', '--id', bot.id, '--role', 'ADMIN', '--active', 'true');
    expect(updated).toEqual({ ...bot, role: 'ADMIN', active: true, updatedAt: ISO_TIME });

    const { data: all } = await cli.call('agent', 'list', '--workspace', 'acme');
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining([ada, updated]));

    // The last OWNER can't become an ADMIN.
    await cli.call(...create, '--name', 'Olga', '--email', 'olga@example.com', '--role', 'OWNER');
    const update = (...flags: string[]) => cli.call('agent', 'update', '--id', ada.id as string, ...flags);
    expect(await update('--display-name', 'Countess')).toMatchObject({ displayName: 'Countess' });
    expect(await update('--role', 'ADMIN')).toMatchObject({ displayName: 'Countess' });
    expect(await update('--no-display-name')).toMatchObject({ displayName: null, role: 'ADMIN' });
    expect(
      await cli.refusal('agent', 'update', '--id', ada.id as string, '--display-name', ' '),
    ).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'displayName', message: 'must not be blank' }],
    });
  });

  it('answers alike for an id that is unknown and for one that is none', async () => {
    const [unknown, none] = await Promise.all(
      [NOWHERE, 'nobody'].map((id) => cli.refusal('agent', 'update', '--id', id, '--active', 'false')),
    );
    expect(unknown).toEqual({
      code: 'NOT_FOUND',
      message: 'Agent not found.',
      reason: 'not_found',
      values: { thing: 'Agent' },
      requestId: null,
    });
    expect(none).toEqual(unknown);
  });
});
