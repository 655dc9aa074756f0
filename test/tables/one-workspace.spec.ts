import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import pkg from '../../package.json';
import { readSources, ROOT } from './source-files';

/**
 * The features that serve several workspaces at once unless `CROSS_WORKSPACE_BATCHES=false`, each with the
 * end-to-end tests that `npm run test:e2e:one-workspace` repeats that way. The other end-to-end tests reach
 * nothing of these features that these do not: a provider's adapter, for example, comes after a batch.
 */
const REPEATED: Record<string, string[]> = {
  auth: ['access', 'rate-limit'],
  channels: ['channel-hooks', 'channel-telegram', 'channel-whatsapp', 'channel-widget-live'],

  messages: ['channel-telegram'],
  outbox: ['channel-telegram', 'channel-widget-live'],
  queue: ['channel-telegram'],
};

/** Features whose tests run both ways by themselves, and where. */
const BOTH_WAYS: Record<string, string> = {
  notices: 'test/notices/answers-by-mail.slow.ts',
  webhooks: 'test/webhooks/webhook-events.e2e-spec.ts',
};

/** Features that no end-to-end test reaches. `npm run test:citus` runs their integration tests that way. */
const ON_CITUS = ['operations'];

/** Names of what divides work by the setting. */
const DIVIDING = /\b(rowsToInsert|workspaceOf|selectForEach|preparedAcross|workspacesAtOnce|batchesOf)\b/;
/** Folders without a feature, which have what the names stand for. */
const GROUND = ['common', 'database'];

it('knows every feature that serves several workspaces at once', () => {
  const dividing = [...readSources('src', 'dashboard/server/src')].filter(([, { text }]) =>
    DIVIDING.test(text),
  );
  const features = new Set(dividing.map(([path]) => path.replace(/^src\//, '').split('/')[0]!));
  for (const folder of GROUND) features.delete(folder);
  expect([...features].sort()).toEqual(
    [...Object.keys(REPEATED), ...Object.keys(BOTH_WAYS), ...ON_CITUS].sort(),
  );
});

it('repeats their end-to-end tests, and no others, one workspace at a time', () => {
  const [, pattern] = / jest '(.*)'$/.exec(pkg.scripts['test:e2e:one-workspace'])!;
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const suites = files.filter((file) => file.endsWith('.e2e-spec.ts'));
  const repeated = suites.filter((file) => new RegExp(pattern!).test(file));
  const names = repeated.map((file) => basename(file, '.e2e-spec.ts'));
  expect(names.sort()).toEqual([...new Set(Object.values(REPEATED).flat())].sort());
});

it.each(Object.entries(BOTH_WAYS))('of the tests of %s some set it themselves', (_, path) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toContain('env: { CROSS_WORKSPACE_BATCHES }');
});
