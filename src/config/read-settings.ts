import { InvalidText } from './setting-readers';
import { Setting, Sizes, ValuesOf } from './settings';

/**
 * Reads the variables of a table. An empty variable counts as not set.
 * @returns the values, and what is wrong with the variables; if anything is, the values must not be used
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
      typeof given === 'string'
        ? check(faults, variable, () => read(given))
        : (given?.(values as unknown as Sizes) ?? null);
  }
  return { values: values as ValuesOf<Table>, faults };
}

/** Returns what `read` returns. If it throws, adds what is wrong with the variable to the faults. */
export function check<T>(faults: string[], variable: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidText) faults.push(...error.faults.map((fault) => `${variable} ${fault}`));
    else faults.push(`${variable}: ${(error as Error).message}`);
    return undefined;
  }
}
