import { IsIn, IsOptional } from 'class-validator';
import { IsNullable, IsText } from '../../common/validators';

export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Person who logs in. Each e-mail address has one login, which can open several workspaces. */
export interface Person {
  id: string;
  /** E-mail address in lower case. */
  email: string;
  name: string;
  /** Language of pages and mails. If null, pages use the browser's language, and mails English. */
  locale: Locale | null;
  theme: Theme;
  hasSecondFactor: boolean;
}

/** Input of `PeopleService.update`. A field that is left out does not change. */
export class UpdatePerson {
  @IsOptional()
  @IsText(200)
  name?: string;

  /** Language of pages and mails; null to remove the choice. */
  @IsNullable()
  @IsIn(LOCALES)
  locale?: Locale | null;

  @IsOptional()
  @IsIn(THEMES)
  theme?: Theme;
}
