import type { SavedReplyVariable } from '../../../api/types';

/** Matches a variable such as `{{contact.name|there}}`, and a space before or punctuation mark after it. */
const VARIABLE = /( ?)\{\{([^{}|]*)(?:\|([^{}]*))?\}\}([,.!?;:]?)/g;

/** Returns the text between a slash that begins a line and the caret. Returns null without such a slash. */
export function savedReplyQuery(text: string, caret: number) {
  const start = text.lastIndexOf('\n', caret - 1) + 1;
  const line = text.slice(start, caret);
  return line.startsWith('/') ? { query: line.slice(1), start, end: caret } : null;
}

/** Replaces variables with their values or defaults. `missing` names the variables that have neither. */
export function fillVariables(body: string, values: Record<SavedReplyVariable, string>) {
  const missing = new Set<string>();
  const text = body.replace(
    VARIABLE,
    (_, space: string, name: string, otherwise: string | undefined, mark: string) => {
      const variable = name.trim() as SavedReplyVariable;
      const value = values[variable] || otherwise?.trim();
      if (value) return space + value + mark;
      missing.add(variable);
      // Removes the variable, and the space before it if a punctuation mark follows.
      return (mark ? '' : space) + mark;
    },
  );
  return { text, missing: [...missing] };
}
