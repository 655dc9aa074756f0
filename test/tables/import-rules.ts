import { forbidden } from '../../.dependency-cruiser.cjs';

interface Files {
  path?: string | string[];
  pathNot?: string | string[];
}

interface Rule {
  name: string;
  from: Files;
  to: Files;
}

/** Reports whether the rules for folders allow a file of `src/` to import another one. */
export function mayImport(from: string, to: string): boolean {
  const rules = (forbidden as Rule[]).filter(({ name }) => name.endsWith('-imports'));
  return !rules.some((rule) => isOneOf(from, rule.from) && isOneOf(to, rule.to));
}

function isOneOf(file: string, { path, pathNot }: Files): boolean {
  return matches(file, path) && !matches(file, pathNot);
}

function matches(file: string, patterns: string | string[] = []): boolean {
  return [patterns].flat().some((pattern) => new RegExp(pattern).test(file));
}
