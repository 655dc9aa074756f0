import { IsIn, IsOptional } from 'class-validator';
import { IsNullable, IsText } from '../../common/validators';

export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Person who logs in. There is one login for an e-mail address, however many workspaces it opens. */
export interface Person {
  id: string;
  /** E-mail address in lower case. */
  email: string;
  name: string;
  /** Language of pages and mails; null for the one that the browser prefers. */
  locale: Locale | null;
  theme: Theme;
  hasSecondFactor: boolean;
}

/** Changes of a person. A field that is left out does not change. */
export class UpdatePerson {
  @IsOptional()
  @IsText(200)
  name?: string;

  /** Language of pages and mails; null for the one that the browser prefers. */
  @IsNullable()
  @IsIn(LOCALES)
  locale?: Locale | null;

  @IsOptional()
  @IsIn(THEMES)
  theme?: Theme;
}
