import { dirname } from 'node:path';
import ts from 'typescript';
import { walk } from './source-files';

/** Ends of the names of files that declare what happens to the rows of tables (`TableDeclaration`). */
const DECLARATIONS = ['-tables.ts', '.module.ts'];

/** Returns the folder that declares each table, which is its owner. */
export function ownersOf(sources: Map<string, ts.SourceFile>): Map<string, string> {
  const owners = new Map<string, string>();
  for (const [file, source] of sources)
    if (DECLARATIONS.some((end) => file.endsWith(end)))
      walk(source, (node) => {
        const name = nameIn(node);
        const text = name && textOf(name, sources);
        if (text) owners.set(text, dirname(file));
      });
  return owners;
}

/**
 * Reads the name of `{ name: 'agents', … }`, and of a tuple `['agents', …]` that a list of tables is mapped
 * from.
 */
function nameIn(node: ts.Node): ts.Expression | undefined {
  if (ts.isPropertyAssignment(node) && node.name.getText() === 'name') return node.initializer;
  if (ts.isArrayLiteralExpression(node) && ts.isArrayLiteralExpression(node.parent)) return node.elements[0];
  return undefined;
}

function textOf(name: ts.Expression, sources: Map<string, ts.SourceFile>): string | undefined {
  if (ts.isStringLiteral(name)) return name.text;
  if (!ts.isIdentifier(name)) return undefined;
  for (const source of sources.values())
    for (const statement of source.statements) {
      if (!ts.isVariableStatement(statement)) continue;
      const found = statement.declarationList.declarations.find((one) => one.name.getText() === name.text);
      if (found?.initializer && ts.isStringLiteral(found.initializer)) return found.initializer.text;
    }
  return undefined;
}
