import { Center, Paper, Text, TextInput } from '@mantine/core';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { api } from '../../api/client';
import type { NewSecondFactor, RecoveryCodes } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { PasswordField } from '../../common/password-field';
import { useTexts } from '../../i18n/locale';
import { useAccountChange } from './use-account-change';

const QR_SIZE = 200;

/** Turns the second factor on: asks for the password, shows the secret, and asks for a first code. */
export function TurnOnDialog({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (recoveryCodes: string[]) => void;
}) {
  const texts = useTexts();
  const [password, setPassword] = useState('');
  const create = useAccountChange(() => api.post<NewSecondFactor>('/account/second-factor', { password }));
  return (
    <Dialog title={texts.secondFactor.turnOn} onClose={onClose}>
      {create.data ? (
        <FirstCode secret={create.data} onClose={onClose} onDone={onDone} />
      ) : (
        <Form
          action={texts.common.continue}
          isPending={create.isPending}
          error={create.error}
          onSubmit={() => create.mutate()}
          onCancel={onClose}
        >
          <PasswordField
            data-autofocus
            value={password}
            onChange={setPassword}
            error={faultOf(create.error, 'password')}
          />
        </Form>
      )}
    </Dialog>
  );
}

function FirstCode({
  secret: { secret, uri },
  onClose,
  onDone,
}: {
  secret: NewSecondFactor;
  onClose: () => void;
  onDone: (recoveryCodes: string[]) => void;
}) {
  const texts = useTexts();
  const [code, setCode] = useState('');
  const confirm = useAccountChange(
    () => api.post<RecoveryCodes>('/account/second-factor/confirm', { code: code.trim() }),
    texts.secondFactor.turnedOn,
  );
  return (
    <Form
      action={texts.secondFactor.turnOn}
      isPending={confirm.isPending}
      error={confirm.error}
      onSubmit={() => confirm.mutate(undefined, { onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes) })}
      onCancel={onClose}
    >
      <Text size="sm">{texts.secondFactor.scan}</Text>
      <Center>
        {/* Cameras read a QR code only dark on light, even in the dark theme. */}
        <Paper p="md" bg="white">
          <QRCodeSVG value={uri} size={QR_SIZE} title={texts.secondFactor.qrCode} />
        </Paper>
      </Center>
      <CopyBlock label={texts.secondFactor.secret} value={secret} wrap />
      <TextInput
        label={texts.login.code}
        description={texts.secondFactor.firstCode}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        autoFocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={faultOf(confirm.error, 'code')}
      />
    </Form>
  );
}
