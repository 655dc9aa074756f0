import { PasswordInput, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import type { Channel } from '../../api/types';
import { faultOf } from '../../common/error-notice';
import { useLocale, useTexts } from '../../i18n/locale';
import { CHANNEL_GUIDES } from './channel-guides';

export function AccountFields({
  channel,
  credentials,
  onChange,
  error,
}: {
  channel: Exclude<Channel, 'WIDGET'>;
  credentials: Record<string, string>;
  onChange: (credentials: Record<string, string>) => void;
  error: unknown;
}) {
  const texts = useTexts();
  const locale = useLocale();
  return CHANNEL_GUIDES[channel].fields.map(({ name, label, term, about, isOptional, isSecret }) => {
    const props = {
      label: label[locale],
      description: term === label[locale] ? about[locale] : `${about[locale]} ${texts.channels.term(term)}`,
      required: !isOptional,
      autoComplete: 'off',
      spellCheck: false,
      value: credentials[name] ?? '',
      onChange: (event: ChangeEvent<HTMLInputElement>) =>
        onChange({ ...credentials, [name]: event.currentTarget.value }),
      error: faultOf(error, name) ?? faultOf(error, `credentials.${name}`),
    };
    return isSecret ? (
      <PasswordInput
        key={name}
        {...props}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': texts.channels.showField(label[locale]), tabIndex: 0 }}
      />
    ) : (
      <TextInput key={name} {...props} />
    );
  });
}
