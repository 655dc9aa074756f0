import type { Locale } from '../../api/types';

export type Localized<Text> = Record<Locale, Text>;

export interface ChannelField {
  name: string;
  label: Localized<string>;
  /** Name of the value on the provider's pages. */
  term: string;
  about: Localized<string>;
  isOptional?: boolean;
  isSecret?: boolean;
}

export interface ChannelGuide {
  about: Localized<string>;
  /** Fields for the credentials of an account. Empty for the widget, whose form asks for origins instead. */
  fields: ChannelField[];
  steps: Localized<string[]>;
  /** Steps that the person takes after the account is connected. */
  after: Localized<string[]>;
  /** Whether a person must enter our hook's address at the provider. Otherwise the service sets it. */
  isHookEntered: boolean;
  /** Labels of the values that the API reveals once after connecting, by the values' names. */
  revealed: Record<string, { label: Localized<string>; about: Localized<string> }>;
  /** Label of the button that changes the settings or credentials of a connected account. */
  rotate: Localized<string>;
  /** Text that is announced after the settings or credentials were changed. */
  rotated: Localized<string>;
}

export const NEW_CREDENTIALS = {
  rotate: { en: 'New credentials', de: 'Neue Zugangsdaten' },
  rotated: { en: 'The new credentials are stored.', de: 'Die neuen Zugangsdaten sind gespeichert.' },
};
