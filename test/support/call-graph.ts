import ts from 'typescript';
import { walk } from '../tables/source-files';

type Scope = ReadonlyMap<string, string>;

/** A method or function, with the names of the classes that its expressions have. */
interface Routine {
  node: ts.Node;
  owner: ts.ClassDeclaration | null;
}

/** A call of a method of a class that is injected: `this.budgets.acquire('walks', …)`. */
export interface MethodCall {
  type: string;
  method: string;
  /** First argument, where it is a text. */
  argument: string | undefined;
  /** Method or function that makes the call. */
  within: ts.Node;
}

/**
 * Methods and functions of a program, and which of them call which. It knows the classes of injected
 * properties and of parameters by their names, which are unique in the project.
 */
export class CallGraph {
  readonly classes = new Map<string, ts.ClassDeclaration>();
  private readonly functions = new Map<string, ts.FunctionDeclaration>();

  constructor(sources: Iterable<ts.SourceFile>) {
    for (const source of sources)
      for (const statement of source.statements) {
        if (ts.isClassDeclaration(statement)) this.classes.set(statement.name!.text, statement);
        if (ts.isFunctionDeclaration(statement) && statement.name)
          this.functions.set(statement.name.text, statement);
      }
  }

  /** Lists the calls of methods of a class that a method leads to, over any number of others. */
  callsFrom(method: ts.MethodDeclaration, type: string): MethodCall[] {
    const found: MethodCall[] = [];
    const seen = new Set<ts.Node>();
    const visit = ({ node, owner }: Routine): void => {
      if (seen.has(node)) return;
      seen.add(node);
      const scope = this.scopeOf(node, owner);
      walk(node, (at) => {
        if (ts.isIdentifier(at)) {
          const called = this.functions.get(at.text);
          if (called && !isName(at)) visit({ node: called, owner: null });
        }
        if (!ts.isPropertyAccessExpression(at)) return;
        const holder = this.typeOf(at.expression, scope, owner);
        if (holder === undefined) return;
        const name = at.name.text;
        if (holder === type) found.push({ type, method: name, argument: firstTextOf(at), within: node });
        const next = this.find(holder, name);
        if (next && holder !== type) visit(next);
      });
    };
    visit({ node: method, owner: method.parent as ts.ClassDeclaration });
    return found;
  }

  /** Finds a method of a class, or of the classes that it extends. */
  private find(className: string, name: string): Routine | undefined {
    const owner = this.classes.get(className);
    if (!owner) return undefined;
    const member = owner.members.find((one) => one.name?.getText() === name);
    return member ? { node: member, owner } : this.find(parentOf(owner) ?? '', name);
  }

  private typeOf(
    expression: ts.Expression,
    scope: Scope,
    owner: ts.ClassDeclaration | null,
  ): string | undefined {
    if (expression.kind === ts.SyntaxKind.ThisKeyword) return owner?.name?.text;
    if (ts.isIdentifier(expression)) return scope.get(expression.text);
    const isOfThis =
      ts.isPropertyAccessExpression(expression) && expression.expression.kind === ts.SyntaxKind.ThisKeyword;
    return isOfThis ? this.propertyTypes(owner).get(expression.name.text) : undefined;
  }

  /** Returns the classes of the parameters around and in a routine, by their names. */
  private scopeOf(node: ts.Node, owner: ts.ClassDeclaration | null): Scope {
    const scope = new Map<string, string>(this.propertyTypes(owner));
    walk(node, (at) => {
      if (ts.isParameter(at)) this.note(scope, at.name.getText(), at.type);
    });
    return scope;
  }

  private propertyTypes(owner: ts.ClassDeclaration | null): Scope {
    const types = new Map<string, string>();
    if (!owner) return types;
    const parent = this.classes.get(parentOf(owner) ?? '');
    for (const [name, type] of parent ? this.propertyTypes(parent) : []) types.set(name, type);
    for (const member of owner.members) {
      if (ts.isPropertyDeclaration(member)) this.note(types, member.name.getText(), member.type);
      if (ts.isConstructorDeclaration(member))
        for (const one of member.parameters) this.note(types, one.name.getText(), one.type);
    }
    return types;
  }

  private note(types: Map<string, string>, name: string, type: ts.TypeNode | undefined): void {
    const className = type && ts.isTypeReferenceNode(type) ? type.typeName.getText() : undefined;
    if (className && this.classes.has(className)) types.set(name, className);
  }
}

function parentOf(owner: ts.ClassDeclaration): string | undefined {
  return owner.heritageClauses
    ?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0]?.expression.getText();
}

function isName(node: ts.Identifier): boolean {
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) && parent.name === node;
}

function firstTextOf({ parent }: ts.PropertyAccessExpression): string | undefined {
  const [first] = ts.isCallExpression(parent) ? parent.arguments : [];
  return first && ts.isStringLiteral(first) ? first.text : undefined;
}
