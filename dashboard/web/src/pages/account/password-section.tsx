import { PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { Form } from '../../common/dialogs';
import { faultOf } from '../../common/error-notice';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { useAccountChange } from './use-account-change';

const EMPTY = { currentPassword: '', newPassword: '' };

export function PasswordSection() {
  const texts = useTexts();
  const { person } = useSession();
  const [passwords, setPasswords] = useState(EMPTY);
  const change = useAccountChange(
    (input: typeof EMPTY) => api.post('/account/password', input),
    texts.account.passwordChanged,
  );
  const toggle = { 'aria-label': texts.login.showPassword, tabIndex: 0 };
  return (
    <Section title={texts.login.password} about={texts.account.passwordAbout}>
      <Form
        action={texts.account.changePassword}
        isPending={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate(passwords, { onSuccess: () => setPasswords(EMPTY) })}
      >
        {/* Password managers look for the name beside the password. */}
        <input type="text" autoComplete="username" value={person.email} readOnly hidden />
        <PasswordInput
          label={texts.account.currentPassword}
          autoComplete="current-password"
          required
          value={passwords.currentPassword}
          onChange={(event) => setPasswords({ ...passwords, currentPassword: event.currentTarget.value })}
          error={faultOf(change.error, 'currentPassword')}
          visibilityToggleButtonProps={toggle}
        />
        <PasswordInput
          label={texts.links.password}
          description={texts.links.passwordRule}
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={200}
          value={passwords.newPassword}
          onChange={(event) => setPasswords({ ...passwords, newPassword: event.currentTarget.value })}
          error={faultOf(change.error, 'newPassword')}
          visibilityToggleButtonProps={toggle}
        />
      </Form>
    </Section>
  );
}
