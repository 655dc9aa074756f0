import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { buildProgram } from '../../src/cli/program';
import { PostgresProxy } from '../support/postgres-proxy';
import { NOWHERE, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('the door itself', () => {
  it('has these commands, each with a description and an example', () => {
    const commands = leavesOf(buildProgram());
    expect(commands.map(({ path }) => path)).toEqual([
      'migrate',
      'workspace create',
      'workspace list',
      'workspace usage',
      'workspace update',
      'workspace demand-factor',
      'workspace end-factor-demand',
      'workspace suspend',
      'workspace resume',
      'workspace cancel-deletion',
      'workspace delete',
      'workspace deletion',
      'workspace deletions',
      'agent create',
      'agent list',
      'agent update',
      'agent erase',
      'agent invite',
      'login list',
      'login reset',
      'login end-factor',
      'login sessions',
      'login export',
      'login revoke',
      'api-key create',
      'api-key list',
      'api-key revoke',
      'api-key revoke-all',
      'webhook create',
      'webhook update',
      'webhook list',
      'webhook activate',
      'webhook deactivate',
      'webhook delete',
      'webhook test',
      'webhook roll-secret',
      'webhook end-secret',
      'webhook deliveries',
      'webhook delivery',
      'webhook redeliver',
      'webhook retry',
      'webhook recover',
      'webhook recovery',
      'webhook cancel-recovery',
      'webhook automatic-recovery',
      'webhook cancel-automatic-recovery',
      'webhook health',
      'channel connect',
      'channel list',
      'channel rotate',
      'channel disconnect',
      'contact create',
      'contact erase',
      'contact erasure',
      'contact export',
      'contact archive',
      'conversation create',
      'conversation update',
      'message receive',
      'message send',
      'files check',
      'alerts list',
      'audit list',
      'audit export',
      'outbox parked',
      'outbox retry',
      'outbox give-up',
      'secrets reencrypt',
    ]);
    for (const { command } of commands) {
      expect(command.description()).toMatch(/\.$/);
      expect(fullHelpOf(command)).toMatch(/Examples?:\n {2}(.* )?node dist\/cli\.js/);
    }
  });

  it('prints help on stdout and succeeds', async () => {
    const [all, one] = await Promise.all([cli.run({}, '--help'), cli.run({}, 'webhook', 'create', '--help')]);
    expect(all).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
    expect(one).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--events <list>') });
  });

  it.each([
    [['fly'], "unknown command 'fly'"],
    [['webhook'], 'A command is missing: see --help.'],
    [['api-key', 'revoke'], "required option '--id <id>' not specified"],
    [['migrate', '--sideways'], "unknown option '--sideways'"],
    [['migrate', 'now'], expect.stringContaining('too many arguments')],
    [
      ['agent', 'update', '--id', NOWHERE, '--active', 'maybe'],
      expect.stringContaining('Give true or false.'),
    ],
    [['workspace', 'update', '--slug', 's', '--rate-limit', '1.5'], expect.stringContaining('whole number')],
    [['workspace', 'update', '--slug', 's', '--trial-ends-at', 'soon'], expect.stringContaining('ISO 8601')],
    [
      ['workspace', 'update', '--slug', 's'],
      'Nothing to change: give at least one of --plan, --trial-ends-at, --rate-limit, --message-retention-days, --entitlements.',
    ],
    [
      ['agent', 'update', '--id', NOWHERE],
      'Nothing to change: give at least one of --name, --display-name, --no-display-name, --role, --active.',
    ],
    [
      ['conversation', 'update', '--id', NOWHERE, '--agent', NOWHERE],
      'Nothing to change: give at least one of --status, --assign, --snooze-until.',
    ],
  ])('refuses %j with the error body', async (args, message) => {
    expect(await cli.refusalIn({}, ...args)).toEqual({ code: 'INVALID_BODY', message, requestId: null });
  });

  it('joins the embedded servers of its folder, and without them says how to start them', async () => {
    const list = ['api-key', 'list', '--workspace', 'nobody'];
    expect(await cli.refusalIn({}, ...list)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('npm start'),
    });
    mkdirSync(join(cli.folder, '.data'), { recursive: true });
    writeFileSync(join(cli.folder, '.data', 'servers.json'), JSON.stringify(cli.stores));
    expect(await cli.refusalIn({}, ...list)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says at once that the database is away, and names every fault of the configuration', async () => {
    const list = ['api-key', 'list', '--workspace', 'x'];
    const away = new URL(cli.stores.databaseUrl);
    away.port = '1';
    expect(await cli.refusalIn({ ...cli.env, DATABASE_URL: away.href }, ...list)).toEqual({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^The database does not answer: .*ECONNREFUSED/),
      requestId: null,
    });
    const faulty = { ...cli.env, SECRETS_KEYS: 'short', WEBHOOK_ALLOWED_NETWORKS: 'home' };
    expect(await cli.refusalIn(faulty, ...list)).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/2 fault.*WEBHOOK_ALLOWED_NETWORKS.*SECRETS_KEYS/s),
    });
  });

  it.each([
    ['28P01', /^The database refuses the role or its password: /],
    ['28000', /^The database refuses the role or its password: /],
    ['3D000', /^The database does not exist: /],
    ['42501', /^The database role lacks a privilege: /],
    ['53300', /^The database does not answer: /],
    ['57P03', /^The database does not answer: /],
  ])('says that the database is unavailable, and why, when it answers %s', async (code, message) => {
    const proxy = await PostgresProxy.start(cli.stores.databaseUrl);
    try {
      proxy.refuseConnections(code);
      const environment = { ...cli.env, DATABASE_URL: proxy.address };
      expect(await cli.refusalIn(environment, 'api-key', 'list', '--workspace', 'x')).toEqual({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(message),
        requestId: null,
      });
    } finally {
      await proxy.stop();
    }
  });

  it('works while Redis is away', async () => {
    const created = await cli.callIn(
      { ...cli.env, REDIS_URL: 'redis://127.0.0.1:1' },
      ...['workspace', 'create', '--name', 'No Redis', '--slug', 'no-redis', '--plan', 'PRO'],
    );
    expect(created).toMatchObject({ slug: 'no-redis' });
  });
});

function leavesOf(command: Command, path = ''): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const childPath = `${path} ${child.name()}`.trim();
    return child.commands.length > 0 ? leavesOf(child, childPath) : [{ path: childPath, command: child }];
  });
}

/** Returns a command's help as it is printed, with the examples after the options. */
function fullHelpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}
