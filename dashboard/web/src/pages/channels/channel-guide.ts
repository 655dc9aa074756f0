import type { Locale } from '../../api/types';

/** A text in each language of the pages. */
export type Localized<Text> = Record<Locale, Text>;

export interface ChannelField {
  name: string;
  label: Localized<string>;
  /** The name that the provider's pages have for it. */
  term: string;
  about: Localized<string>;
  isOptional?: boolean;
  /** True for a value that is hidden while it is typed. */
  isSecret?: boolean;
}

/** Texts and fields of a channel on its pages. */
export interface ChannelGuide {
  /** Description of the account that customers write to. */
  about: Localized<string>;
  /** Fields for the credentials of an account. The widget has none: its form is a list of origins. */
  fields: ChannelField[];
  /** Steps that a person takes to connect an account, in order. */
  steps: Localized<string[]>;
  /** Steps that are left once the account is connected. */
  after: Localized<string[]>;
  /** True if a person enters the address of our hook at the provider, because no call of its API does. */
  isHookEntered: boolean;
  /** Values that connecting reveals, by their names. */
  revealed: Record<string, { label: Localized<string>; about: Localized<string> }>;
  /** Label of the button that changes a connected account. */
  rotate: Localized<string>;
  /** Announcement of a changed account. */
  rotated: Localized<string>;
}

/** Texts of the change of an account's credentials. */
export const NEW_CREDENTIALS = {
  rotate: { en: 'New credentials', de: 'Neue Zugangsdaten' },
  rotated: { en: 'The new credentials are stored.', de: 'Die neuen Zugangsdaten sind gespeichert.' },
};
