import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { PasswordField } from '../../common/password-field';
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
  return (
    <Section title={texts.login.password} about={texts.account.passwordAbout}>
      <Form
        action={texts.account.changePassword}
        isPending={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate(passwords, { onSuccess: () => setPasswords(EMPTY) })}
      >
        {/* Password managers look for the user name beside the password. */}
        <input type="text" autoComplete="username" value={person.email} readOnly hidden />
        <PasswordField
          label={texts.account.currentPassword}
          value={passwords.currentPassword}
          onChange={(currentPassword) => setPasswords({ ...passwords, currentPassword })}
          error={faultOf(change.error, 'currentPassword')}
        />
        <PasswordField
          label={texts.links.password}
          description={texts.links.passwordRule}
          autoComplete="new-password"
          minLength={12}
          maxLength={200}
          value={passwords.newPassword}
          onChange={(newPassword) => setPasswords({ ...passwords, newPassword })}
          error={faultOf(change.error, 'newPassword')}
        />
      </Form>
    </Section>
  );
}
