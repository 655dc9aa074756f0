import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const SRC = resolve(__dirname, '../../src');
const ENTRY_POINTS = ['index.ts', 'index-logins.ts', 'index-http.ts'];
const SERVICE = /export \{\s+(\w+Service)\b[^}]*\} from '(.+)';/g;

/**
 * Lists the methods of every service that the package exports, as `ApiKeysService.create`. The list includes
 * methods marked `@internal`, which other services call, but no private ones.
 */
export function serviceMethods(): string[] {
  return allMethods().map(({ name }) => name);
}

/** Lists the methods of the exported services that return many rows, as `ApiKeysService.list`. */
export function listingMethods(): string[] {
  return allMethods()
    .filter(({ returns }) => /\[\]|\bPage<|\bAsync(Iterable|Generator)</.test(returns))
    .map(({ name }) => name);
}

interface Method {
  name: string;
  /** Declared type of the method's result, as text. */
  returns: string;
}

function allMethods(): Method[] {
  const exported = ENTRY_POINTS.map((file) => readFileSync(`${SRC}/${file}`, 'utf8')).join('\n');
  return [...exported.matchAll(SERVICE)].flatMap(([, name, path]) => methodsOf(name!, `${SRC}/${path}.ts`));
}

function methodsOf(name: string, file: string): Method[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const service = source.statements
    .filter(ts.isClassDeclaration)
    .find((declared) => declared.name?.text === name);
  return service!.members
    .filter(ts.isMethodDeclaration)
    .filter((method) => !method.modifiers?.some(({ kind }) => HIDDEN.has(kind)))
    .map((method) => ({
      name: `${name}.${method.name.getText(source)}`,
      returns: method.type?.getText(source) ?? '',
    }));
}

const HIDDEN = new Set([ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword]);
