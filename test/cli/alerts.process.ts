import { ISO_TIME, query, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

const OLD = '01900000-0000-7000-8000-000000000001';
const RESOLVED = '01900000-0000-7000-8000-000000000002';
const NEW = '01900000-0000-7000-8000-000000000003';
const LIST = ['alerts', 'list', '--workspace', 'acme'];

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
  await cli.call('workspace', 'create', '--name', 'Other', '--slug', 'other', '--plan', 'PRO');
  await query(
    cli.stores.databaseUrl,
    `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at, resolved_at)
     SELECT w.id, a.id, a.kind, w.id, now(), a.resolved_at
     FROM workspaces w, (VALUES ($1::uuid, 'TRIAL_ENDING', NULL::timestamptz), ($2, 'TRIAL_ENDING', now()),
       ($3, 'FILES_NEARLY_FULL', NULL)) AS a (id, kind, resolved_at)
     WHERE w.slug = 'acme'`,
    [OLD, RESOLVED, NEW],
  );
});

describe('alerts list', () => {
  it('lists the open and the resolved alerts of the workspace, newest first', async () => {
    const { data, nextCursor } = await cli.call(...LIST);
    expect(nextCursor).toBeNull();
    expect(data).toMatchObject([
      { id: NEW, kind: 'FILES_NEARLY_FULL', subjectType: 'workspace', resolvedAt: null },
      { id: RESOLVED, kind: 'TRIAL_ENDING', openedAt: ISO_TIME, resolvedAt: ISO_TIME, toldAt: null },
      { id: OLD, kind: 'TRIAL_ENDING', openedAt: ISO_TIME, resolvedAt: null, toldAt: null },
    ]);
    expect(await cli.call('alerts', 'list', '--workspace', 'other')).toEqual({ data: [], nextCursor: null });
  });

  it('lists only open ones or only resolved ones, page by page', async () => {
    const first = await cli.call(...LIST, '--open', '--limit', '1');
    expect(first).toMatchObject({ data: [{ id: NEW }], nextCursor: NEW });
    const second = await cli.call(...LIST, '--open', '--limit', '1', '--cursor', first.nextCursor);
    expect(second).toMatchObject({ data: [{ id: OLD }], nextCursor: null });
    expect(await cli.call(...LIST, '--resolved')).toMatchObject({
      data: [{ id: RESOLVED }],
      nextCursor: null,
    });
  });

  it('refuses both at once, and a page that no list has', async () => {
    expect(await cli.refusal(...LIST, '--open', '--resolved')).toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining('cannot be used with'),
    });
    expect(await cli.refusal(...LIST, '--limit', '0')).toMatchObject({ code: 'INVALID_QUERY' });
  });
});
