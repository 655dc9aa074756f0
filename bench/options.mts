import { parseArgs } from 'node:util';
import { LauncherError } from '../scripts/processes.mjs';
import type { Scenario } from './scenario.mts';
import { FULL, QUICK, type Plan } from './support/plan.mts';

/** Wishes of the command line. */
export interface Options {
  quick: boolean;
  only?: string[];
  seconds?: number;
  deliveries?: number;
  json?: string;
  profile?: string;
  help: boolean;
}

/**
 * Reads the command line.
 *
 * @throws LauncherError with the fault, and the usage
 */
export function readOptions(scenarios: Scenario[]): Options {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true },
        seconds: { type: 'string' },
        deliveries: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    const names = namesOf(scenarios);
    const unknown = values.only?.find((name) => !names.includes(name));
    if (unknown) throw new Error(`There is no scenario "${unknown}".`);
    const { seconds, deliveries } = values;
    return {
      ...values,
      seconds: numberOf('seconds', seconds),
      deliveries: numberOf('deliveries', deliveries),
    };
  } catch (error) {
    throw new LauncherError(`${(error as Error).message}\n\n${usageOf(scenarios)}`);
  }
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0) return number;
  throw new Error(`--${name} must be a number above 0.`);
}

/** Returns the help text. */
export function usageOf(scenarios: Scenario[]): string {
  const heavy = scenarios.filter((scenario) => scenario.heavy).map(({ name }) => name);
  return `usage: npm run bench -- [options]

  --quick              measure less, on less data: rough figures in 90 seconds
  --only NAME          run only this scenario; may be repeated
  --seconds N          duration of each load of requests
  --deliveries N       number of deliveries of memory, delete-backlog, recover and history
  --json FILE          write all measurements to a file
  --profile FOLDER     write a CPU profile of each measured process; this slows the processes down

Scenarios: ${namesOf(scenarios).join(', ')}
Only on request: ${heavy.join(', ')}
`;
}

function namesOf(scenarios: Scenario[]): string[] {
  return scenarios.flatMap(({ name, parts = [] }) => [name, ...parts]);
}

/** Returns the scenarios to run: those that are named, or all but the heavy ones. */
export function wantedOf(scenarios: Scenario[], only: string[] | undefined): Scenario[] {
  return scenarios.filter(({ name, parts = [], heavy }) =>
    only ? [name, ...parts].some((wanted) => only.includes(wanted)) : !heavy,
  );
}

/** Returns durations and sizes. */
export function planOf({ quick, seconds, deliveries }: Options): Plan {
  const plan = quick ? QUICK : FULL;
  return {
    ...plan,
    httpSeconds: seconds ?? plan.httpSeconds,
    ...(deliveries && {
      memory: { deliveries },
      backlog: { deliveries },
      recover: { events: deliveries },
      history: { ...plan.history, oldDeliveries: deliveries },
    }),
  };
}
