import ts from 'typescript';
import { placeOf, walk } from './source-files';
import { declaredIn } from './sql-texts';

/** A write of a table, by SQL or by TypeORM. */
export interface TableWrite {
  file: string;
  place: string;
  table: string;
}

/** TypeORM's methods that write, and those that name what a query builder writes. */
const WRITES = new Set(
  'insert update upsert delete save remove softDelete softRemove restore recover increment decrement clear into from'.split(
    ' ',
  ),
);

/**
 * Finds writes that TypeORM makes of an entity: `manager.update(AgentEntity, …)`,
 * `.delete().from(AgentEntity)`.
 */
export function findEntityWrites(sources: Map<string, ts.SourceFile>): TableWrite[] {
  const tables = tablesOfEntities(sources);
  const found: TableWrite[] = [];
  for (const [file, source] of sources)
    walk(source, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const { name, expression: target } = node.expression;
      const first = node.arguments[0]?.getText() ?? '';
      const table = tables.get(first);
      if (table && (WRITES.has(name.text) || name.text === 'getRepository'))
        found.push({ file, place: placeOf(node), table });
      // For an object, the table is known only at run time.
      else if (WRITES.has(name.text) && /\bmanager$/.test(target.getText()))
        found.push({ file, place: placeOf(node), table: `what ${first} is` });
    });
  return found;
}

/**
 * Finds uses of an entity, by TypeORM, that read or change rows without naming the workspace. Only an insert
 * need not name it.
 */
export function findUnscopedEntityUses(sources: Map<string, ts.SourceFile>): TableWrite[] {
  const tables = tablesOfEntities(sources);
  const found: TableWrite[] = [];
  for (const [file, source] of sources)
    walk(source, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const table = tables.get(node.arguments[0]?.getText() ?? '');
      if (!table || node.expression.name.text === 'insert') return;
      const tenant = table === 'workspaces' ? /\bid\b/ : /\btenantId\b/;
      if (!tenant.test(chainOf(node))) found.push({ file, place: placeOf(node), table });
    });
  return found;
}

/** Returns the text of the arguments of a call, and of those that are chained to it. */
function chainOf(call: ts.CallExpression): string {
  const { parent } = call;
  const isChained = ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent);
  const own = call.arguments.slice(1).map(textWithSpreads).join();
  // Nothing but `where` chooses rows: an order by the id names no workspace.
  return own.replace(/order: \{[^}]*\}/, '') + (isChained ? chainOfNext(parent.parent) : '');
}

function chainOfNext(call: ts.CallExpression): string {
  return call.arguments.map(textWithSpreads).join() + chainOf(call);
}

/** Returns the text of an expression, with the constants of the same method that are spread in it. */
function textWithSpreads(expression: ts.Expression): string {
  const texts = [expression.getText()];
  walk(expression, (node) => {
    if (!ts.isSpreadAssignment(node) || !ts.isIdentifier(node.expression)) return;
    for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
      const found = declaredIn(at, node.expression.text);
      if (found && ts.isVariableDeclaration(found)) texts.push(found.getText());
    }
  });
  return texts.join();
}

/** Returns the table of each entity by the name of its class. */
function tablesOfEntities(sources: Map<string, ts.SourceFile>): Map<string, string> {
  const tables = new Map<string, string>();
  for (const source of sources.values())
    walk(source, (node) => {
      if (!ts.isClassDeclaration(node)) return;
      for (const { expression } of ts.getDecorators(node) ?? []) {
        if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'Entity') continue;
        tables.set(node.name!.text, (expression.arguments[0] as ts.StringLiteral).text);
      }
    });
  return tables;
}
