import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestDatabase } from '../support/test-database';
import { ISO_TIME, UUID, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('workspace', () => {
  it('creates a workspace, lists it, and changes what is given', async () => {
    const created = await cli.call(
      ...['workspace', 'create', '--name', 'Zoë & Co', '--slug', 'zoe', '--plan', 'TRIAL'],
      ...[
        '--trial-ends-at',
        '2030-01-02T03:04:05Z',
        '--rate-limit',
        '10',
        '--entitlements',
        'auditWebhookExport',
      ],
    );
    expect(created).toEqual({
      id: UUID,
      name: 'Zoë & Co',
      slug: 'zoe',
      planTier: 'TRIAL',
      trialEndsAt: '2030-01-02T03:04:05.000Z',
      rateLimit: 10,
      messageRetentionDays: null,
      entitlements: ['auditWebhookExport'],
      suspendedAt: null,
      resumedAt: null,
      createdAt: ISO_TIME,
      updatedAt: ISO_TIME,
    });

    const { data: all } = await cli.call('workspace', 'list');
    expect(all).toEqual([created, expect.objectContaining({ slug: 'acme' })]);

    const inZoe = ['workspace', 'update', '--slug', 'zoe'];
    const upgraded = await cli.call(...inZoe, '--plan', 'PRO');
    expect(upgraded).toEqual({ ...created, planTier: 'PRO', updatedAt: ISO_TIME });
    expect(await cli.call(...inZoe, '--rate-limit', 'default', '--entitlements', '')).toEqual({
      ...upgraded,
      rateLimit: null,
      messageRetentionDays: null,
      entitlements: [],
      updatedAt: ISO_TIME,
    });
  });

  it('lists what the largest workspaces use', async () => {
    const database = new TestDatabase(cli.stores);
    const [acme] = await database.query<{ id: string }>(`SELECT id FROM workspaces WHERE slug = 'acme'`);
    await database.query(
      `INSERT INTO contacts (tenant_id, id, name, attributes, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'One of many', '{}', now(), now() FROM generate_series(1, 300)`,
      [acme!.id],
    );
    await database.query('ANALYZE contacts');
    await database.close();
    const { data } = await cli.callIn({ ...cli.env, WORKSPACE_QUOTA_CONTACTS: '299' }, 'workspace', 'usage');
    expect(data).toEqual([
      {
        slug: 'acme',
        workspaceId: acme!.id,
        contacts: 300,
        messages: 0,
        bytes: expect.any(Number),
        over: ['contacts'],
      },
    ]);
  });

  it('suspends a workspace, resumes it, and schedules its deletion after an export of its audit log', async () => {
    await cli.call('workspace', 'create', '--name', 'Last', '--slug', 'last', '--plan', 'PRO');
    const named = ['--slug', 'last'];
    expect(await cli.call('workspace', 'suspend', ...named)).toMatchObject({
      slug: 'last',
      suspendedAt: ISO_TIME,
    });
    expect(await cli.call('workspace', 'resume', ...named)).toMatchObject({
      suspendedAt: null,
      resumedAt: ISO_TIME,
    });

    const [first, second] = [join(cli.folder, 'first.jsonl'), join(cli.folder, 'second.jsonl')];
    const actionsIn = (file: string) =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { action: string }).action);
    const history = ['workspace.created', 'workspace.suspended', 'workspace.resumed'];
    const deletion = await cli.call(
      'workspace',
      'delete',
      ...named,
      '--grace-days',
      '7',
      '--export-audit',
      first,
    );
    expect(deletion).toEqual({
      workspaceId: UUID,
      slug: 'last',
      status: 'scheduled',
      requestedAt: ISO_TIME,
      dueAt: ISO_TIME,
      startedAt: null,
      deletedRows: 0,
      table: null,
    });
    expect(actionsIn(first)).toEqual(history);
    expect(await cli.call('workspace', 'deletion', ...named)).toEqual(deletion);
    expect(await cli.call('workspace', 'deletions')).toEqual({ data: [deletion] });

    const exported = ['audit', 'export', '--workspace', 'last', '--file'];
    expect(await cli.call(...exported, second)).toEqual({ file: second, entries: 5 });
    expect(actionsIn(second)).toEqual([...history, 'workspace.deletion_scheduled', 'workspace.suspended']);
    expect(await cli.refusal(...exported, second)).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'file', message: 'cannot be written: EEXIST' }],
    });
    expect(await cli.call('workspace', 'cancel-deletion', ...named)).toMatchObject({ suspendedAt: null });
    expect(await cli.refusal('workspace', 'deletion', ...named)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await cli.refusal('workspace', 'delete', ...named, '--grace-days', '400')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'graceDays' }],
    });
  });

  it('refuses a slug that is taken, a plan that is none, and a workspace that is not there', async () => {
    const create = ['workspace', 'create', '--name', 'Again', '--slug', 'acme', '--plan'];
    expect(await cli.refusal(...create, 'PRO')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'slug' }],
    });
    expect(await cli.refusal(...create, 'GOLD')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'planTier' }],
    });
    expect(await cli.refusal('workspace', 'update', '--slug', 'gone', '--plan', 'PRO')).toEqual({
      code: 'NOT_FOUND',
      message: 'Workspace "gone" not found.',
      requestId: null,
    });
  });
});
