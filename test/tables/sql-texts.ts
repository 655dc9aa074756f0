import { dirname, join } from 'node:path';
import ts from 'typescript';
import { placeOf, walk } from './source-files';

/** Placeholder for a part of a text that is only known at run time. */
export const HOLE = '\uE000';
/** Number of texts that one expression may make at most, such as with a condition and without it. */
const MAX_TEXTS = 64;
const MAX_DEPTH = 12;

/** Methods that run a statement, with the position of its text among their arguments. */
const RUNNERS: Record<string, number> = {
  query: 0,
  prepared: 0,
  preparedWithin: 1,
  preparedWrite: 0,
  pipelinedRead: 0,
  pipeline: 0,
  run: 0,
  runPrepared: 0,
  runPreparedWithin: 1,
};

const STATEMENT =
  /^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|TRUNCATE|MERGE INTO|COPY|LOCK TABLE)\b(?=[^]*\b(FROM|INTO|SET|TABLE|SELECT)\b)/;

/** The SQL of one call or constant, with every text that it may have. */
export interface SqlText {
  file: string;
  /** Method or constant in which the SQL stands. */
  place: string;
  texts: string[];
}

type Bindings = ReadonlyMap<ts.Node, string[]>;
type FunctionNode = ts.FunctionDeclaration | ts.MethodDeclaration | ts.ArrowFunction | ts.FunctionExpression;

/**
 * Finds the SQL of source files without running them. Pieces of a text are followed through constants,
 * conditions, functions, arguments and imports; a piece that cannot be followed leaves a `HOLE`.
 */
export class SqlTexts {
  private readonly seen = new Set<ts.Node>();
  private readonly calls = new Map<string, ts.CallExpression[]>();
  /** Number of functions and methods of each name. */
  private readonly functions = new Map<string, number>();

  constructor(private readonly sources: Map<string, ts.SourceFile>) {
    for (const source of sources.values())
      walk(source, (node) => {
        if (ts.isCallExpression(node)) {
          const name = nameOfCall(node);
          this.calls.set(name, [...(this.calls.get(name) ?? []), node]);
        } else if (ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)) {
          const name = nameOfFunction(node);
          this.functions.set(name, (this.functions.get(name) ?? 0) + 1);
        }
      });
  }

  find(): SqlText[] {
    const found: SqlText[] = [];
    for (const [file, source] of this.sources)
      walk(source, (node) => {
        if (isPage(node)) found.push({ file, place: placeOf(node), texts: this.textsOfPage(node) });
        const sql = statementOf(node);
        // The runners themselves pass a parameter on.
        if (!sql || this.isParameter(sql)) return;
        const texts = this.textsOf(sql, new Map(), 0).filter((text) => text.trim() !== HOLE);
        if (texts.length > 0) found.push({ file, place: placeOf(node), texts });
      });
    return [...found, ...this.findUnread()];
  }

  /** Finds texts that look like a statement and are part of no statement that was found. */
  private findUnread(): SqlText[] {
    const found: SqlText[] = [];
    for (const [file, source] of this.sources)
      walk(source, (node) => {
        if (!isText(node) || this.seen.has(node)) return;
        const texts = this.textsOf(node, new Map(), 0).filter((text) => STATEMENT.test(text));
        if (texts.length > 0) found.push({ file, place: placeOf(node), texts });
      });
    return found;
  }

  /** Reads a `PageStatement` with its condition of the workspace, which is the first one. */
  private textsOfPage(page: ts.NewExpression): string[] {
    const [columns, table] = page.arguments!.map((argument) => this.textsOf(argument, new Map(), 0)[0]!);
    const { parent } = page.parent;
    const first = ts.isCallExpression(parent) ? this.textsOf(parent.arguments[0]!, new Map(), 0)[0]! : 'TRUE';
    return [`SELECT ${columns} FROM ${table} WHERE ${first.replace('?', '$1')}`];
  }

  private isParameter(node: ts.Expression): boolean {
    return ts.isIdentifier(node) && !!this.declarationOf(node) && ts.isParameter(this.declarationOf(node)!);
  }

  private textsOf(node: ts.Expression, bindings: Bindings, depth: number): string[] {
    if (depth > MAX_DEPTH) return [HOLE];
    const next = (inner: ts.Expression, more: Bindings = bindings) => this.textsOf(inner, more, depth + 1);
    this.seen.add(node);
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [node.text];
    if (ts.isTemplateExpression(node)) {
      const spans = node.templateSpans.map((span) => [next(span.expression), [span.literal.text]]);
      return joined([[node.head.text], ...spans.flat()]);
    }
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node))
      return next(node.expression);
    if (ts.isConditionalExpression(node)) return distinct([...next(node.whenTrue), ...next(node.whenFalse)]);
    if (ts.isBinaryExpression(node)) {
      const isSum = node.operatorToken.kind === ts.SyntaxKind.PlusToken;
      return isSum
        ? joined([next(node.left), next(node.right)])
        : distinct([...next(node.left), ...next(node.right)]);
    }
    if (ts.isIdentifier(node)) return this.textsOfName(node, bindings, depth);
    if (ts.isPropertyAccessExpression(node)) return this.textsOfProperty(node, bindings, depth);
    if (ts.isElementAccessExpression(node)) {
      const object = this.constantOf(node.expression);
      if (!object || !ts.isObjectLiteralExpression(object)) return [HOLE];
      return distinct(
        object.properties.flatMap((one) => (ts.isPropertyAssignment(one) ? next(one.initializer) : HOLE)),
      );
    }
    if (ts.isCallExpression(node)) return this.textsOfCall(node, bindings, depth);
    return [HOLE];
  }

  private textsOfName(node: ts.Identifier, bindings: Bindings, depth: number): string[] {
    const declaration = this.declarationOf(node);
    if (!declaration) return [HOLE];
    if (bindings.has(declaration)) return bindings.get(declaration)!;
    if (ts.isVariableDeclaration(declaration))
      return declaration.initializer ? this.textsOf(declaration.initializer, bindings, depth + 1) : [HOLE];
    if (!ts.isParameter(declaration)) return [HOLE];
    const owner = declaration.parent as FunctionNode;
    const at = owner.parameters.indexOf(declaration);
    const name = nameOfFunction(owner);
    const given = (this.calls.get(name) ?? [])
      .filter((call) => this.functions.get(name) === 1 || call.getSourceFile() === owner.getSourceFile())
      .flatMap((call) => (call.arguments[at] ? this.textsOf(call.arguments[at], new Map(), depth + 2) : []));
    return given.length > 0 ? distinct(given) : [HOLE];
  }

  private textsOfProperty(node: ts.PropertyAccessExpression, bindings: Bindings, depth: number): string[] {
    const object = this.constantOf(node.expression);
    const property =
      object && ts.isObjectLiteralExpression(object)
        ? object.properties.find((one) => one.name?.getText() === node.name.text)
        : this.memberOf(node);
    return property &&
      (ts.isPropertyAssignment(property) || ts.isPropertyDeclaration(property)) &&
      property.initializer
      ? this.textsOf(property.initializer, bindings, depth + 1)
      : [HOLE];
  }

  private textsOfCall(node: ts.CallExpression, bindings: Bindings, depth: number): string[] {
    if (ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'join') {
      const separator = node.arguments[0] ? this.textsOf(node.arguments[0], bindings, depth + 1)[0]! : ',';
      return this.textsOfList(node.expression.expression, bindings, depth).map((texts) =>
        texts.join(separator),
      );
    }
    if (ts.isPropertyAccessExpression(node.expression) && node.expression.name.text.startsWith('replace'))
      return this.textsOf(node.expression.expression, bindings, depth + 1);
    const called = this.functionOf(node.expression);
    if (!called?.body) return [HOLE];
    const inner = new Map(bindings);
    called.parameters.forEach((parameter, at) => {
      const given = node.arguments[at] ?? parameter.initializer;
      inner.set(parameter, given ? this.textsOf(given, bindings, depth + 1) : [HOLE]);
    });
    return distinct(resultsOf(called).flatMap((result) => this.textsOf(result, inner, depth + 1)));
  }

  /** Returns the lists of texts that an array may be. */
  private textsOfList(node: ts.Expression, bindings: Bindings, depth: number): string[][] {
    if (depth > MAX_DEPTH) return [[HOLE]];
    if (ts.isArrayLiteralExpression(node)) {
      const elements = node.elements.map((one) => this.textsOf(one, bindings, depth + 1));
      return elements.reduce<string[][]>(
        (lists, texts) => lists.flatMap((list) => texts.map((text) => [...list, text])).slice(0, MAX_TEXTS),
        [[]],
      );
    }
    if (ts.isIdentifier(node)) {
      const constant = this.constantOf(node);
      return constant ? this.textsOfList(constant, bindings, depth + 1) : [[HOLE]];
    }
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const [callback] = node.arguments;
      if (node.expression.name.text === 'filter')
        return this.textsOfList(node.expression.expression, bindings, depth + 1);
      if (node.expression.name.text === 'map' && callback && isFunction(callback)) {
        const texts = resultsOf(callback).flatMap((result) => this.textsOf(result, bindings, depth + 1));
        return [[...texts, ...texts]];
      }
    }
    return [[HOLE]];
  }

  private constantOf(node: ts.Expression): ts.Expression | undefined {
    if (!ts.isIdentifier(node)) return undefined;
    const declaration = this.declarationOf(node);
    if (!declaration || !ts.isVariableDeclaration(declaration)) return undefined;
    let value = declaration.initializer;
    while (value && (ts.isAsExpression(value) || ts.isSatisfiesExpression(value))) value = value.expression;
    return value;
  }

  private memberOf(node: ts.PropertyAccessExpression): ts.ClassElement | undefined {
    if (node.expression.kind !== ts.SyntaxKind.ThisKeyword) return undefined;
    let at: ts.Node = node;
    while (at.parent && !ts.isClassDeclaration(at)) at = at.parent;
    return ts.isClassDeclaration(at)
      ? at.members.find((one) => one.name?.getText() === node.name.text)
      : undefined;
  }

  private functionOf(node: ts.Expression): FunctionNode | undefined {
    if (ts.isPropertyAccessExpression(node)) {
      const member = this.memberOf(node);
      return member && ts.isMethodDeclaration(member) ? member : undefined;
    }
    if (!ts.isIdentifier(node)) return undefined;
    const declaration = this.declarationOf(node);
    if (declaration && ts.isFunctionDeclaration(declaration)) return declaration;
    const value = this.constantOf(node);
    // The result of `writtenOnce` returns the same texts as its argument.
    const isKept = value && ts.isCallExpression(value) && nameOfCall(value) === 'writtenOnce';
    const written = isKept ? value.arguments[0] : value;
    return written && isFunction(written) ? written : undefined;
  }

  /**
   * Returns the parameter, constant or function that a name stands for, in this file or in the one it comes
   * from.
   */
  private declarationOf(node: ts.Identifier): ts.Declaration | undefined {
    for (let at: ts.Node | undefined = node.parent; at; at = at.parent) {
      const found = declaredIn(at, node.text);
      if (found) return found;
    }
    return this.importedAs(node.getSourceFile(), node.text);
  }

  private importedAs(source: ts.SourceFile, name: string): ts.Declaration | undefined {
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement)) continue;
      const named = statement.importClause?.namedBindings;
      if (!named || !ts.isNamedImports(named)) continue;
      const element = named.elements.find((one) => one.name.text === name);
      const from = (statement.moduleSpecifier as ts.StringLiteral).text;
      if (!element || !from.startsWith('.')) continue;
      const file = this.sources.get(`${join(dirname(source.fileName), from)}.ts`);
      return file && declaredIn(file, (element.propertyName ?? element.name).text);
    }
    return undefined;
  }
}

function isPage(node: ts.Node): node is ts.NewExpression {
  return ts.isNewExpression(node) && node.expression.getText() === 'PageStatement';
}

function statementOf(node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  return node.arguments[RUNNERS[node.expression.name.text] ?? -1];
}

/** Returns the parameter, constant or function that a function, block or file declares by a name. */
export function declaredIn(scope: ts.Node, name: string): ts.Declaration | undefined {
  if (ts.isFunctionLike(scope)) return scope.parameters.find((one) => one.name.getText() === name);
  if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) return undefined;
  for (const statement of scope.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return statement;
    if (!ts.isVariableStatement(statement)) continue;
    const found = statement.declarationList.declarations.find((one) => one.name.getText() === name);
    if (found) return found;
  }
  return undefined;
}

function resultsOf(called: FunctionNode): ts.Expression[] {
  if (!called.body) return [];
  if (!ts.isBlock(called.body)) return [called.body];
  const results: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression) results.push(node.expression);
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(called.body, visit);
  return results;
}

function isFunction(node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

function isText(node: ts.Node): node is ts.Expression {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function nameOfCall({ expression }: ts.CallExpression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
}

function nameOfFunction(node: FunctionNode): string {
  const named = isFunction(node) ? (node.parent as ts.NamedDeclaration) : node;
  return named.name?.getText() ?? '';
}

/** Returns the texts that pieces make one after the other, where each piece may be one of several. */
function joined(pieces: string[][]): string[] {
  return pieces.reduce<string[]>(
    (texts, piece) => distinct(texts.flatMap((text) => piece.map((one) => text + one))).slice(0, MAX_TEXTS),
    [''],
  );
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)].slice(0, MAX_TEXTS);
}
