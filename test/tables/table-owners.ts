import { dirname } from 'node:path';
import ts from 'typescript';
import { walk } from './source-files';

/** Returns the folder that declares each table, which is its owner. */
export function ownersOf(sources: Map<string, ts.SourceFile>): Map<string, string> {
  const owners = new Map<string, string>();
  for (const [file, source] of sources)
    for (const declaration of declarationsIn(file, source))
      walk(declaration, (node) => {
        const name = nameIn(node);
        const text = name && textOf(name, sources);
        if (text) owners.set(text, dirname(file));
      });
  return owners;
}

/**
 * Returns the parts of a file that declare what happens to the rows of tables: all of a `*-tables.ts`, and
 * of a module the constants of the type `TableDeclaration` and the constructors, which register tables.
 */
function declarationsIn(file: string, source: ts.SourceFile): ts.Node[] {
  if (file.endsWith('-tables.ts')) return [source];
  if (!file.endsWith('.module.ts')) return [];
  const constants = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ type }) => type?.getText().startsWith('TableDeclaration'));
  const classes = source.statements.filter(ts.isClassDeclaration);
  const constructors = classes.flatMap(({ members }) => members.filter(ts.isConstructorDeclaration));
  return [...constants, ...constructors];
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
