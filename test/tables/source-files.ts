import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

export const ROOT = resolve(__dirname, '../..');

/**
 * Parses each TypeScript file of these folders of the project, except tests. Returns them by their path in
 * the project.
 */
export function readSources(...folders: string[]): Map<string, ts.SourceFile> {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  return new Map(
    paths
      .filter((path) => path.endsWith('.ts') && !/\.(spec|d)\.ts$|\bnode_modules\b/.test(path))
      .map((path) => [path, parse(path)]),
  );
}

function parse(path: string): ts.SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return ts.createSourceFile(relative('.', path), text, ts.ScriptTarget.Latest, true);
}

/** Calls `visit` for a node and all below it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Names the method around a node with its class, or the function or constant around it. */
export function placeOf(node: ts.Node): string {
  const names: string[] = [];
  for (let at = node; !ts.isSourceFile(at); at = at.parent)
    if (ts.isMethodDeclaration(at) || ts.isClassDeclaration(at) || isOfModule(at))
      names.unshift(at.name?.getText() ?? '');
  return names.join('.');
}

function isOfModule(node: ts.Node): node is ts.FunctionDeclaration | ts.VariableDeclaration {
  if (ts.isFunctionDeclaration(node)) return ts.isSourceFile(node.parent);
  return ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);
}
