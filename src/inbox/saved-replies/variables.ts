/** Variables of a saved reply. An inbox puts their values in when an agent chooses the reply. */
export const SAVED_REPLY_VARIABLES = [
  'contact.name',
  'contact.firstName',
  'agent.name',
  'workspace.name',
] as const;
export type SavedReplyVariable = (typeof SAVED_REPLY_VARIABLES)[number];

/** A variable with an optional text for an unknown value: `{{contact.firstName|there}}`. */
const VARIABLE = /\{\{([^{}|]*)(?:\|[^{}]*)?\}\}/g;

/** Returns the first name between double braces that is no variable; undefined if all are. */
export function findUnknownVariable(body: string): string | undefined {
  const names = [...body.matchAll(VARIABLE)].map(([, name]) => name!.trim());
  return names.find((name) => !(SAVED_REPLY_VARIABLES as readonly string[]).includes(name));
}
