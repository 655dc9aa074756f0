import { Dates } from './dates';
import { en, type Texts } from './en';

/** Functions that load the texts of a language. English is missing, because its texts are part of the app. */
const CATALOGUES: Record<string, () => Promise<Texts>> = {
  de: async () => (await import('./de')).de,
};

export interface Locale {
  /** BCP 47 tag, which selects plural rules and date formats. */
  tag: string;
  texts: Texts;
  dates: Dates;
}

/** Returns the first candidate that is a valid language tag; `en` if none is. */
export function chooseTag(candidates: readonly (string | undefined)[]): string {
  return candidates.find((tag) => tag && isTag(tag)) ?? 'en';
}

/** Adds the browser's region, so that a British visitor of an English page gets British dates. */
export function withRegion(tag: string, languages: readonly string[]): string {
  return languages.find((language) => language.startsWith(`${tag}-`)) ?? tag;
}

export async function loadLocale(tag: string, own: Partial<Texts> = {}): Promise<Locale> {
  const load = CATALOGUES[tag.split('-')[0]!.toLowerCase()];
  // If the texts cannot be loaded, the chat is in English.
  const texts = (await load?.().catch(() => null)) ?? en;
  return { tag, texts: { ...texts, ...own }, dates: new Dates(tag) };
}

export function fill(text: string, values: Record<string, number | string>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

export function plural({ tag }: Pick<Locale, 'tag'>, texts: Texts['unread'] | string, count: number): string {
  const text =
    typeof texts === 'string' ? texts : (texts[new Intl.PluralRules(tag).select(count)] ?? texts.other);
  return fill(text, { count });
}

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
