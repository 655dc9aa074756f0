import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { RecoveryCodes } from '../../api/types';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { PasswordField } from '../../common/password-field';
import { useTexts } from '../../i18n/locale';
import { useAccountChange } from './use-account-change';

/** Asks for the person's password and a code of their second factor, and posts both to `path`. */
export function ConfirmedActDialog({
  title,
  advice,
  path,
  done,
  onClose,
  onDone,
}: {
  title: string;
  advice: string;
  path: string;
  done?: string;
  onClose: () => void;
  onDone: (answer: RecoveryCodes | undefined) => void;
}) {
  const texts = useTexts();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const act = useAccountChange(
    () => api.post<RecoveryCodes | undefined>(path, { password, code: code.trim() }),
    done,
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        action={title}
        isPending={act.isPending}
        error={act.error}
        onSubmit={() => act.mutate(undefined, { onSuccess: onDone })}
        onCancel={onClose}
      >
        <Text size="sm">{advice}</Text>
        <PasswordField
          data-autofocus
          value={password}
          onChange={setPassword}
          error={faultOf(act.error, 'password')}
        />
        <TextInput
          label={texts.login.code}
          autoComplete="one-time-code"
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={faultOf(act.error, 'code')}
        />
      </Form>
    </Dialog>
  );
}
