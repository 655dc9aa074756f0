import ts from 'typescript';
import { CallGraph, MethodCall } from '../support/call-graph';
import { readSources } from '../tables/source-files';

const HTTP_METHODS = ['Get', 'Post', 'Put', 'Patch', 'Delete', 'All'];

/** Handler of a route, with the names of its decorators and of its controller's. */
interface Handler {
  name: string;
  method: ts.MethodDeclaration;
  decorators: string[];
}

const api = readSources('src');
const dashboard = readSources('dashboard/server/src');
const graph = new CallGraph([...api.values(), ...dashboard.values()]);

/** Lists the handlers that get a slot of `requests`: those that are not public. */
function handlersIn(sources: Map<string, ts.SourceFile>): Handler[] {
  const owners = [...sources.values()].flatMap(({ statements }) => statements.filter(ts.isClassDeclaration));
  return owners
    .filter((owner) => decoratorsOf(owner).includes('Controller'))
    .flatMap((owner) =>
      owner.members.filter(ts.isMethodDeclaration).map((method) => ({
        name: `${owner.name!.text}.${method.name.getText()}`,
        method,
        decorators: [...decoratorsOf(owner), ...decoratorsOf(method)],
      })),
    )
    .filter(({ decorators }) => decorators.some((one) => HTTP_METHODS.includes(one)))
    .filter(({ decorators }) => !decorators.includes('Public'));
}

function decoratorsOf(node: ts.HasDecorators): string[] {
  return (ts.getDecorators(node) ?? []).map(({ expression }) =>
    (ts.isCallExpression(expression) ? expression.expression : expression).getText(),
  );
}

/** Lists the slots of other kinds that a handler takes. */
function othersOf({ method }: Handler): MethodCall[] {
  return graph
    .callsFrom(method, 'WorkBudgets')
    .filter((call) => ['acquire', 'waitOutside'].includes(call.method) && call.argument !== 'requests');
}

/** Reports whether the request's slot is given back around a call for another slot. */
function givesBack({ method, within }: MethodCall): boolean {
  return method === 'waitOutside' || /budgets\.releaseSlot\(\)/.test(within.getText());
}

/**
 * Tests all handlers of the API and the dashboard: a request that waits for a slot of another kind while it
 * has one of `requests` holds up every workspace. It has a budget of its own, or gives its slot back.
 */
describe('handlers whose services take a slot of another kind', () => {
  const apiHandlers = handlersIn(api);
  const dashboardHandlers = handlersIn(dashboard);

  it('are all seen', () => {
    const kinds = new Set(
      [...apiHandlers, ...dashboardHandlers].flatMap(othersOf).map((one) => one.argument),
    );
    expect([...kinds].sort()).toEqual([
      'downloads',
      'exports',
      'lookups',
      'mails',
      'passwords',
      'providers',
      'searches',
      'tests',
      'uploads',
      'walks',
    ]);
    expect(apiHandlers.length).toBeGreaterThan(15);
    expect(dashboardHandlers.length).toBeGreaterThan(60);
  });

  it('have HasOwnBudget or WaitsOutside in the API', () => {
    const wrong = apiHandlers.filter((handler) => {
      const { decorators } = handler;
      const others = othersOf(handler);
      if (decorators.includes('HasOwnBudget')) return false;
      return others.length > 0 && !(decorators.includes('WaitsOutside') && others.every(givesBack));
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('leave the answer to Nest in the API, which then gives the slot back', () => {
    const own = apiHandlers.filter(
      ({ method, decorators }) =>
        // A request that never has a slot of `requests` has none to give back.
        !method.getText().includes('@HasOwnBudget(() => true)') &&
        (/@Res\(\)|StreamableFile|Observable/.test(method.getText()) ||
          decorators.some((name) => ['Sse', 'Render', 'Redirect'].includes(name))),
    );
    expect(own.map(({ name }) => name)).toEqual([]);
  });

  it('have HasOwnBudget in the dashboard, or give back the slot that each request has', () => {
    const wrong = dashboardHandlers.filter(
      (handler) => !handler.decorators.includes('HasOwnBudget') && !othersOf(handler).every(givesBack),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});
