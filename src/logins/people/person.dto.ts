import { IsIn, IsOptional } from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';

export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** A person who logs in: one login by e-mail address, however many workspaces it opens. */
export interface Person {
  id: string;
  /** The e-mail address in lower case. */
  email: string;
  name: string;
  /** The language of pages and mails. Null: what the browser prefers. */
  locale: Locale | null;
  theme: Theme;
  hasSecondFactor: boolean;
}

/** Changes of a person. A field that is left out does not change. */
export class UpdatePerson {
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  /** Null: what the browser prefers. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale | null;

  @IsOptional()
  @IsIn(THEMES)
  theme?: Theme;
}
