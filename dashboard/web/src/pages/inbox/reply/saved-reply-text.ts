import type { SavedReplyVariable } from '../../../api/types';

/** Matches a variable with the space before it and the mark behind it. */
const VARIABLE = /( ?)\{\{([^{}|]*)(?:\|([^{}]*))?\}\}([,.!?;:]?)/g;

/**
 * Returns the text behind a slash at the beginning of the caret's line, and its place; null without a slash.
 */
export function savedReplyQuery(text: string, caret: number) {
  const start = text.lastIndexOf('\n', caret - 1) + 1;
  const line = text.slice(start, caret);
  return line.startsWith('/') ? { query: line.slice(1), start, end: caret } : null;
}

/** Puts the values of variables into a text, or the text's own default for a variable without a value. */
export function fillVariables(body: string, values: Record<SavedReplyVariable, string>) {
  const missing = new Set<string>();
  const text = body.replace(
    VARIABLE,
    (_, space: string, name: string, otherwise: string | undefined, mark: string) => {
      const variable = name.trim() as SavedReplyVariable;
      const value = values[variable] || otherwise?.trim();
      if (value) return space + value + mark;
      missing.add(variable);
      // No space is left before a comma.
      return (mark ? '' : space) + mark;
    },
  );
  return { text, missing: [...missing] };
}
