import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useTexts } from '../i18n/locale';

/** Shows a password field. Browsers fill in the present password unless `autoComplete` says otherwise. */
export function PasswordField({
  onChange,
  ...props
}: Omit<PasswordInputProps, 'onChange'> & { onChange: (value: string) => void }) {
  const texts = useTexts();
  return (
    <PasswordInput
      label={texts.login.password}
      autoComplete="current-password"
      required
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': texts.login.showPassword, tabIndex: 0 }}
      {...props}
    />
  );
}
