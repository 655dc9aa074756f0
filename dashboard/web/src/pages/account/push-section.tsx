import '@mantine/core/styles/Switch.css';
import { Button, Group, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ApiError } from '../../api/client';
import { useSession } from '../../api/session';
import type { PushState } from '../../api/types';
import { ErrorNotice } from '../../common/error-notice';
import { Section } from '../../common/section';
import { useLocale } from '../../i18n/locale';
import { isSupported, turnOff, turnOn } from './push-device';
import { usePushTexts } from './push-texts';
import { useAccountChange } from './use-account-change';

/** Shows a switch for notices in this browser. It shows nothing if the service pushes no notices. */
export function PushSection() {
  const state = useQuery({
    queryKey: ['account', 'push'],
    queryFn: ({ signal }) => api.get<PushState>('/account/push', signal),
  });
  const { publicKey = null, isOn = false } = state.data ?? {};
  return publicKey === null ? null : <Choice publicKey={publicKey} isOn={isOn} />;
}

function Choice({ publicKey, isOn }: { publicKey: string; isOn: boolean }) {
  const push = usePushTexts();
  const locale = useLocale();
  const { person } = useSession();
  const [isDenied, setDenied] = useState(() => isSupported() && Notification.permission === 'denied');
  const change = useAccountChange(async (isWanted: boolean) => {
    if (isWanted) setDenied(!(await turnOn(person.id, publicKey)));
    else await turnOff();
  });
  const test = useAccountChange(() => api.post<{ isTaken: boolean }>('/account/push/test', { locale }));
  if (!isSupported())
    return (
      <Section title={push.title} about={push.about}>
        <Text size="sm">{push.unsupported}</Text>
      </Section>
    );
  const isFailed = change.error !== null && !(change.error instanceof ApiError);
  return (
    <Section
      title={push.title}
      about={push.about}
      actions={
        isOn && (
          <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            {push.test}
          </Button>
        )
      }
    >
      <Group>
        <Switch
          label={push.choice}
          checked={change.isPending ? change.variables : isOn}
          aria-disabled={change.isPending}
          onChange={({ currentTarget }) => {
            if (!change.isPending) change.mutate(currentTarget.checked);
          }}
        />
      </Group>
      <div role="status">
        {isDenied && <Text size="sm">{push.denied}</Text>}
        {isFailed && <Text size="sm">{push.failed}</Text>}
        {test.data && <Text size="sm">{test.data.isTaken ? push.sent : push.notTaken}</Text>}
      </div>
      <ErrorNotice error={isFailed ? test.error : (change.error ?? test.error)} />
    </Section>
  );
}
