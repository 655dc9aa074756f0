import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'messaging-lint-'));
const config = join(folder, 'oxlint.json');
let files = 0;

beforeAll(() => {
  const rules = {
    'house/comment-width': ['error', 110],
    'house/doc-comment-beginning': 'error',
    'house/named-things': 'error',
  };
  const jsPlugins = [join(ROOT, 'scripts/lint/rules.mjs')];
  writeFileSync(config, JSON.stringify({ jsPlugins, categories: { correctness: 'off' }, rules }));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the messages of the house's rules for comments about a source text. */
function lint(source: string): string[] {
  const file = join(folder, `source-${files++}.ts`);
  writeFileSync(file, source);
  const { stdout, stderr } = spawnSync(
    join(ROOT, 'node_modules/.bin/oxlint'),
    ['-c', config, '-f', 'json', file],
    { cwd: folder, encoding: 'utf8' },
  );
  if (!stdout.startsWith('{')) throw new Error(stdout + stderr);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { message: string }[] };
  return diagnostics.map(({ message }) => message);
}

describe('the rule doc-comment-beginning', () => {
  it('accepts a verb, and the noun that is described', () => {
    const source = [
      '/** Returns the slots. */',
      '/** Slots in use by an endpoint. */',
      '/**\n * Office hours.\n */',
    ];
    expect(lint(source.join('\n'))).toEqual([]);
  });

  it.each([
    ['/** Of the endpoint. */', 'Of'],
    ['/** The same for a queue. */', 'The same'],
    ['/**\n * Who waits for a slot.\n */', 'Who'],
    ['export const a = 1; /** Without a slot. */', 'Without'],
  ])('refuses %j', (source, word) => {
    expect(lint(source)).toEqual([
      `Begin with a third-person verb ("Returns …") or the noun described ("Slots in use …"), not with "${word}".`,
    ]);
  });

  it('leaves comments alone that are no doc comments', () => {
    expect(lint('// Of the endpoint.\n/* Of the endpoint. */')).toEqual([]);
  });
});

describe('the rule named-things', () => {
  it.each([
    ['/** Returns what it found. */', 'what'],
    ['// What the relay does is repeated.', 'What'],
    ['/** Reports what kind of error it is. */', 'what'],
    ['/**\n * Slots of normal targets, and those\n * of slow ones.\n */', 'those of'],
    ['export const a = 1; // Nobody waits.', 'Nobody'],
    ["/* Somebody's draft. */", 'Somebody'],
  ])('refuses %j', (source, word) => {
    expect(lint(source)).toEqual([
      `Name the thing or person ("Returns the rows that it found", "the agent's reply") instead of "${word}".`,
    ]);
  });

  it('reports each word of a comment', () => {
    expect(lint('// Nobody knows what it is.')).toHaveLength(2);
  });

  it('accepts the words in code, in texts and as parts of words', () => {
    expect(lint("/** Value `nobody`. */\nexport const text = 'what';\n// Whatever, somewhat.")).toEqual([]);
  });
});

describe('the rule comment-width', () => {
  const message = 'A comment line of 113 columns: wrap at 110.';
  const text = 'word '.repeat(22);

  it('refuses each comment line of more columns', () => {
    expect(lint(`// ${text}`)).toEqual([message]);
    expect(lint(`/**\n * A list.\n * ${text}\n * ${text}\n */`)).toEqual([message, message]);
    expect(lint(`export const text = '${'x'.repeat(100)}'; // A comment behind code.`)).toHaveLength(1);
  });

  it('accepts 110 columns, lines of code, and lines that cannot be broken', () => {
    const lines = [
      `// ${'x'.repeat(107)}`,
      `export const text = '${'x'.repeat(200)}';`,
      `// https://example.com/${'x'.repeat(200)}`,
    ];
    expect(lint(lines.join('\n'))).toEqual([]);
  });
});
