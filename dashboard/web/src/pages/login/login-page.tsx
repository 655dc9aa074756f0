import { Alert, Anchor, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, ApiError } from '../../api/client';
import type { LoginAnswer } from '../../api/types';
import { Form } from '../../common/form';
import { PasswordField } from '../../common/password-field';
import { Door } from '../../frame/door';
import { useTexts } from '../../i18n/locale';

type Step = 'password' | 'second_factor' | 'forgotten' | 'reset_sent';

export function LoginPage() {
  const [step, setStep] = useState<Step>('password');
  const [email, setEmail] = useState('');
  const enter = useEnter();

  switch (step) {
    case 'password':
      return (
        <PasswordStep
          email={email}
          setEmail={setEmail}
          onDone={({ status }) => (status === 'done' ? enter() : setStep('second_factor'))}
          onForgotten={() => setStep('forgotten')}
        />
      );
    case 'second_factor':
      return <SecondFactorStep onDone={enter} onBack={() => setStep('password')} />;
    case 'forgotten':
      return (
        <ForgottenStep
          email={email}
          setEmail={setEmail}
          onDone={() => setStep('reset_sent')}
          onBack={() => setStep('password')}
        />
      );
    case 'reset_sent':
      return <ResetSent onBack={() => setStep('password')} />;
  }
}

function useEnter(): () => void {
  const router = useRouter();
  const queries = useQueryClient();
  const { back } = useSearch({ from: '/login' });
  return () => {
    queries.clear();
    // Only an address of this site is followed: a link to the login page must not lead to another site.
    const to = back?.startsWith('/') && !/^\/[/\\]/.test(back) ? back : '/';
    router.history.push(to);
  };
}

function PasswordStep({
  email,
  setEmail,
  onDone,
  onForgotten,
}: {
  email: string;
  setEmail: (email: string) => void;
  onDone: (answer: LoginAnswer) => void;
  onForgotten: () => void;
}) {
  const texts = useTexts();
  const { back } = useSearch({ from: '/login' });
  const [password, setPassword] = useState('');
  const logIn = useMutation({
    mutationFn: () => api.post<LoginAnswer>('/login', { email, password }),
    onSuccess: onDone,
  });
  const isWrong = logIn.error instanceof ApiError && logIn.error.status === 401;
  return (
    <Door title={texts.login.title}>
      {back && !logIn.error && <Text size="sm">{texts.login.wayBack}</Text>}
      {isWrong && (
        <Alert color="red" role="alert" title={texts.login.wrong}>
          {texts.login.wrongAdvice}
        </Alert>
      )}
      <Form
        action={texts.login.logIn}
        isPending={logIn.isPending}
        error={isWrong ? null : logIn.error}
        onSubmit={() => logIn.mutate()}
      >
        <TextInput
          label={texts.login.email}
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordField value={password} onChange={setPassword} />
      </Form>
      <Anchor component="button" type="button" size="sm" onClick={onForgotten} ta="start">
        {texts.login.forgotten}
      </Anchor>
    </Door>
  );
}

function SecondFactorStep({ onDone, onBack }: { onDone: () => void; onBack: () => void }) {
  const texts = useTexts();
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => api.post<LoginAnswer>('/login/second-factor', { code: code.trim() }),
    onSuccess: onDone,
  });
  const isWrong = confirm.error instanceof ApiError && confirm.error.status === 401;
  return (
    <Door title={texts.login.secondFactor}>
      <Text size="sm">{texts.login.secondFactorAdvice}</Text>
      {isWrong && (
        <Alert color="red" role="alert" title={texts.login.wrongCode}>
          {texts.login.wrongCodeAdvice}
        </Alert>
      )}
      <Form
        action={texts.login.confirm}
        isPending={confirm.isPending}
        error={isWrong ? null : confirm.error}
        onSubmit={() => confirm.mutate()}
      >
        <TextInput
          label={texts.login.code}
          autoComplete="one-time-code"
          autoFocus
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      </Form>
      <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
        {texts.login.startAgain}
      </Anchor>
    </Door>
  );
}

function ForgottenStep({
  email,
  setEmail,
  onDone,
  onBack,
}: {
  email: string;
  setEmail: (email: string) => void;
  onDone: () => void;
  onBack: () => void;
}) {
  const texts = useTexts();
  const ask = useMutation({
    mutationFn: () => api.post('/password-resets', { email }),
    onSuccess: onDone,
  });
  return (
    <Door title={texts.login.forgottenTitle}>
      <Text size="sm">{texts.login.forgottenAdvice}</Text>
      <Form
        action={texts.login.sendLink}
        isPending={ask.isPending}
        error={ask.error}
        onSubmit={() => ask.mutate()}
        onCancel={onBack}
      >
        <TextInput
          label={texts.login.email}
          type="email"
          autoComplete="username"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Form>
    </Door>
  );
}

function ResetSent({ onBack }: { onBack: () => void }) {
  const texts = useTexts();
  return (
    <Door title={texts.login.resetSent}>
      <Text role="status">{texts.login.resetSentAdvice}</Text>
      <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
        {texts.login.backToLogin}
      </Anchor>
    </Door>
  );
}
