import { InvalidText } from './setting-readers';
import { Setting, ValuesOf } from './settings';

/**
 * Reads the variables of a table of settings. An empty variable counts as not set.
 * @returns the values, and the faults; if there are any, the values must not be used
 */
export function readSettings<Table extends Record<string, Setting<unknown>>>(
  table: Table,
  variables: NodeJS.ProcessEnv,
): { values: ValuesOf<Table>; faults: string[] } {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { variable, read, default: otherwise }] of Object.entries(table)) {
    const given = variables[variable] || otherwise;
    values[name] =
      typeof given === 'string' ? check(faults, variable, () => read(given)) : (given?.(values) ?? null);
  }
  return { values: values as ValuesOf<Table>, faults };
}

/** Calls `read`, and adds a fault that it throws to `faults`, after the variable's name. */
export function check<T>(faults: string[], variable: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidText) faults.push(...error.faults.map((fault) => `${variable} ${fault}`));
    else faults.push(`${variable}: ${(error as Error).message}`);
    return undefined;
  }
}
