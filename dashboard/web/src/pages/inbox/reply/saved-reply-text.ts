import type { SavedReplyVariable } from '../../../api/types';

/**
 * Matches a variable such as `{{contact.name|there}}`, with the space before and the punctuation mark after
 * it.
 */
const VARIABLE = /( ?)\{\{([^{}|]*)(?:\|([^{}]*))?\}\}([,.!?;:]?)/g;

/**
 * Returns the text between a slash at the beginning of the caret's line and the caret, with its position.
 * Returns null if the line does not begin with a slash.
 */
export function savedReplyQuery(text: string, caret: number) {
  const start = text.lastIndexOf('\n', caret - 1) + 1;
  const line = text.slice(start, caret);
  return line.startsWith('/') ? { query: line.slice(1), start, end: caret } : null;
}

/**
 * Replaces the variables in a text with their values, or else with the defaults in the text. Removes a
 * variable that has neither, and returns its name in `missing`.
 */
export function fillVariables(body: string, values: Record<SavedReplyVariable, string>) {
  const missing = new Set<string>();
  const text = body.replace(
    VARIABLE,
    (_, space: string, name: string, otherwise: string | undefined, mark: string) => {
      const variable = name.trim() as SavedReplyVariable;
      const value = values[variable] || otherwise?.trim();
      if (value) return space + value + mark;
      missing.add(variable);
      // Removes the space as well if a punctuation mark follows.
      return (mark ? '' : space) + mark;
    },
  );
  return { text, missing: [...missing] };
}
