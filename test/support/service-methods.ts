import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const SRC = resolve(__dirname, '../../src');
const ENTRY_POINTS = ['index.ts', 'index-logins.ts'];
const SERVICE = /export \{ (\w+Service)\b[^}]*\} from '(.+)';/g;

/**
 * The methods of every service that the package exports, as `ApiKeysService.create`: also those marked
 * `@internal`, which other services call, and not the private ones.
 */
export function serviceMethods(): string[] {
  const exported = ENTRY_POINTS.map((file) => readFileSync(`${SRC}/${file}`, 'utf8')).join('\n');
  return [...exported.matchAll(SERVICE)].flatMap(([, name, path]) => methodsOf(name!, `${SRC}/${path}.ts`));
}

function methodsOf(name: string, file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const service = source.statements
    .filter(ts.isClassDeclaration)
    .find((declared) => declared.name?.text === name);
  return service!.members
    .filter(ts.isMethodDeclaration)
    .filter((method) => !method.modifiers?.some(({ kind }) => HIDDEN.has(kind)))
    .map((method) => `${name}.${method.name.getText(source)}`);
}

const HIDDEN = new Set([ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword]);
