import { userInfo } from 'node:os';
import { TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('audit', () => {
  it('lists who did what, by the operator’s name, page by page', async () => {
    const ofKeys = ['audit', 'list', '--workspace', 'acme', '--entity', 'api_key'];
    const create = ['api-key', 'create', '--workspace', 'acme', '--scopes', 'contacts:read', '--name'];
    const before = new Date().toISOString();
    const [byUser, byOption, byVariable] = [
      await cli.call(...create, 'a'),
      await cli.call('--operator', 'Zoë', ...create, 'b'),
      await cli.callIn({ ...cli.env, OPERATOR: 'lin' }, ...create, 'c'),
    ];
    const revoked = await cli.call('api-key', 'revoke', '--id', byUser.id, '--leaked', '--operator', 'lin');

    const since = ['--since', before];
    const { data, nextCursor } = await cli.call(...ofKeys, ...since);
    expect(nextCursor).toBeNull();
    expect(data).toMatchObject([
      { action: 'api_key.revoked', entityId: revoked.id, actorType: 'operator', actorName: 'lin' },
      { action: 'api_key.created', entityId: byVariable.id, actorName: 'lin', after: { name: 'c' } },
      { action: 'api_key.created', entityId: byOption.id, actorName: 'Zoë' },
      { action: 'api_key.created', entityId: byUser.id, actorName: userInfo().username },
    ]);
    const byLin = [...ofKeys, ...since, '--actor', 'operator:lin', '--limit', '1'];
    const first = await cli.call(...byLin);
    expect(first.data).toEqual([data[0]]);
    expect(await cli.call(...byLin, '--cursor', first.nextCursor)).toEqual({
      data: [data[1]],
      nextCursor: null,
    });
    expect(await cli.refusal(...ofKeys, '--limit', '0')).toMatchObject({ code: 'INVALID_QUERY' });
    expect(await cli.refusal('--operator', ' ', ...create, 'd')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'actor' }],
    });
  });
});
