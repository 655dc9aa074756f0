import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { listProjectFiles } from '../support/project-files';
import { describeWithPython } from '../support/python';
import { loadParser } from '../tables/postgres-parser.mjs';
import { READERS_DECLARATIONS, SNIPPET_CONTEXTS } from './snippet-contexts';

/**
 * Tests that the code of all pages compiles, that its SQL and its commands parse, and that extending.md names
 * the members of the interfaces that it explains.
 */

const ROOT = resolve(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Catalog of events, whose entry extending.md shows. */
const CATALOG = 'src/outbox/event-catalog.ts';
const ENTRY = /^ {2}'conversation\.created': define\([^]*?^ {2}\}\),$/m;

interface Snippet {
  page: string;
  line: number;
  code: string;
  /** File that the compiler takes it for. */
  file: string;
  text: string;
}

const PAGES = listProjectFiles().filter((file) => file.endsWith('.md'));

const BLOCKS = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^( *)```(\w+).*\n([^]*?)^\1```$/gm)].map(({ index, 2: language, 3: code }) => ({
    page,
    line: read(page).slice(0, index).split('\n').length,
    language: language!,
    code: code!,
  })),
);
const blocksIn = (...languages: string[]) => BLOCKS.filter(({ language }) => languages.includes(language));
const SNIPPETS = blocksIn('ts', 'js').map(snippetOf);

/** Adds to a snippet the file in which it stands by itself, or in its context. */
function snippetOf({ page, line, language, code }: (typeof BLOCKS)[number]): Snippet {
  const name = `${page.replace(/\W+/g, '-')}-${line}`;
  if (page === 'docs/project/extending.md' && code.startsWith("'conversation.created'"))
    return {
      page,
      line,
      code,
      file: `src/outbox/${name}.ts`,
      text: read(CATALOG).replace(ENTRY, () => code),
    };
  const context = SNIPPET_CONTEXTS.find((one) => one.page === page && code.includes(one.snippet));
  if (context) {
    const text = context.code.replace('SNIPPET', () => code);
    return { page, line, code, file: `examples/${name}.ts`, text };
  }
  return { page, line, code, file: `examples/${name}.${language === 'js' ? 'mjs' : 'ts'}`, text: code };
}

/** Makes one program of the snippets, with the project's settings. */
function compile(): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(
    (config as { compilerOptions: object }).compilerOptions,
    ROOT,
  );
  // A snippet may leave to its reader what it names. The contexts import files by their names.
  Object.assign(options, { noEmit: true, noUnusedLocals: false, allowImportingTsExtensions: true });
  const texts = new Map(SNIPPETS.map(({ file, text }) => [join(ROOT, file), text]));
  texts.set(join(ROOT, 'examples/readers-declarations.d.ts'), READERS_DECLARATIONS);
  const host = ts.createCompilerHost(options);
  host.fileExists = (path) => texts.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => texts.get(path) ?? ts.sys.readFile(path);
  return ts.createProgram([...texts.keys()], options, host);
}

it('has no code under names of languages that the tests do not know', () => {
  const others = /^(typescript|tsx|[mc]ts|javascript|jsx|[mc]js|py|bash|shell|zsh|postgres(ql)?|pgsql)$/;
  expect(BLOCKS.filter(({ language }) => others.test(language))).toEqual([]);
});

it.each(blocksIn('sh'))('parses the commands of $page, line $line', ({ code }) => {
  expect(spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' }).stderr).toBe('');
});

it.each(blocksIn('sql'))('parses the SQL of $page, line $line', async ({ code }) => {
  const parser = await loadParser();
  expect(() => parser(code)).not.toThrow();
});

describeWithPython('the Python of the pages', () => {
  it.each(blocksIn('python'))('parses: $page, line $line', ({ code }) => {
    const parse = 'import ast, sys; ast.parse(sys.stdin.read())';
    expect(spawnSync('python3', ['-c', parse], { input: code, encoding: 'utf8' }).stderr).toBe('');
  });
});

describe('the code of the pages', () => {
  let program: ts.Program;
  beforeAll(() => {
    program = compile();
  });

  it.each(SNIPPETS)('compiles: $page, line $line', ({ file }) => {
    const source = program.getSourceFile(join(ROOT, file))!;
    const faults = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });

  it.each(SNIPPET_CONTEXTS)('has one fragment with $snippet: $page', ({ page, snippet }) => {
    expect(SNIPPETS.filter((one) => one.page === page && one.code.includes(snippet))).toHaveLength(1);
  });

  it.each([
    ['ChannelAdapter', 'src/channels/adapters/channel-adapter.ts', '**1. The adapter**', 'Member'],
    ['HookedAdapter', 'src/channels/adapters/channel-adapter.ts', '**2. Its hook**', 'Member'],
    ['EventDefinition', CATALOG, '**1. The entry.**', 'Field'],
  ])('lists the members of %s', (name, file, heading, column) => {
    const source = program.getSourceFile(join(ROOT, file))!;
    const declared = source.statements.find(
      (one): one is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(one) && one.name.text === name,
    )!;
    const members = declared.members.map((member) => member.name!.getText(source));
    expect(firstCells('docs/project/extending.md', heading, column).sort()).toEqual(members.sort());
  });
});

/** Returns the names in the first column of the first such table after a text of a page. */
function firstCells(page: string, after: string, column: string): string[] {
  const text = read(page);
  const [, rows] = new RegExp(`^\\| ${column} .*\\n\\|.*\\n((?:\\|.*\\n)+)`, 'm').exec(
    text.slice(text.indexOf(after)),
  )!;
  return [...rows!.matchAll(/^\| (.*?) +\|/gm)].flatMap(([, cell]) => cell!.replace(/`/g, '').split(', '));
}
