/** Variables of a saved reply. An inbox replaces them by their values when an agent chooses the reply. */
export const SAVED_REPLY_VARIABLES = [
  'contact.name',
  'contact.firstName',
  'agent.name',
  'workspace.name',
] as const;
export type SavedReplyVariable = (typeof SAVED_REPLY_VARIABLES)[number];

/** Pattern of a variable, with an optional text for an unknown value: `{{contact.firstName|there}}`. */
const VARIABLE = /\{\{([^{}|]*)(?:\|[^{}]*)?\}\}/g;

/** Returns the first name between double braces that is not a variable; undefined if there is none. */
export function findUnknownVariable(body: string): string | undefined {
  const names = [...body.matchAll(VARIABLE)].map(([, name]) => name!.trim());
  return names.find((name) => !(SAVED_REPLY_VARIABLES as readonly string[]).includes(name));
}
