const FILTER_NAMES = [
  'since',
  'until',
  'event',
  'status',
  'statusCode',
  'error',
  'conversationId',
  'messageId',
] as const;

export type FilterTexts = Partial<Record<(typeof FILTER_NAMES)[number], string>>;

export function filterOf(search: FilterTexts): FilterTexts {
  const given = FILTER_NAMES.map((name) => [name, search[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
