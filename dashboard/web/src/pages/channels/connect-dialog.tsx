import { List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Channel, ConnectedChannel, ChannelConnection } from '../../api/types';
import { useChange } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { useLocale, useTexts } from '../../i18n/locale';
import { AccountFields } from './account-fields';
import { CHANNEL_GUIDES } from './channel-guides';
import { originsOf, showsPresence } from './connection-details';
import { WidgetFields, type WidgetChoices } from './widget-fields';

type Credentials = Record<string, string>;

/** Connects an account of a channel, or changes the credentials of `connection`. */
export function ConnectDialog({
  channel,
  connection,
  onClose,
  onDone,
}: {
  channel: Channel;
  connection: ChannelConnection | undefined;
  onClose: () => void;
  onDone: (connection: ConnectedChannel) => void;
}) {
  const texts = useTexts();
  const locale = useLocale();
  const { steps, rotate, rotated } = CHANNEL_GUIDES[channel];
  const [account, setAccount] = useState<Credentials>({});
  const [widget, setWidget] = useState<WidgetChoices>({
    origins: originsOf(connection).join('\n'),
    keepsSecret: true,
    showsPresence: showsPresence(connection),
  });
  const send = useChange((at) => {
    const credentials = channel === 'WIDGET' ? widgetCredentials(widget, connection) : given(account);
    return connection
      ? api.post<ConnectedChannel>(`${at}/channels/${connection.id}/rotate`, { credentials })
      : api.post<ConnectedChannel>(`${at}/channels`, { channel, credentials });
  }, connection && rotated[locale]);
  const label = CHANNEL_LABELS[channel];
  const title = connection ? `${rotate[locale]}: ${label}` : texts.channels.connectNamed(label);
  return (
    <Dialog title={title} onClose={onClose} size="lg">
      <Form
        action={connection ? texts.common.save : texts.channels.connect}
        isPending={send.isPending}
        error={send.error}
        onSubmit={() => send.mutate(undefined, { onSuccess: onDone })}
        onCancel={onClose}
      >
        <Stack gap={4}>
          <Text size="sm" fw={500}>
            {texts.channels.steps}
          </Text>
          <List type="ordered" size="sm">
            {steps[locale].map((step) => (
              <List.Item key={step}>{step}</List.Item>
            ))}
          </List>
        </Stack>
        {channel === 'WIDGET' ? (
          <WidgetFields settings={widget} isNew={!connection} onChange={setWidget} error={send.error} />
        ) : (
          <AccountFields channel={channel} credentials={account} onChange={setAccount} error={send.error} />
        )}
      </Form>
    </Dialog>
  );
}

function given(credentials: Credentials): Credentials {
  const entries = Object.entries(credentials).map(([name, value]) => [name, value.trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function widgetCredentials(
  { origins, keepsSecret, showsPresence }: WidgetChoices,
  connection: ChannelConnection | undefined,
) {
  const allowedOrigins = origins.split(/[\s,]+/).filter((origin) => origin !== '');
  return { allowedOrigins, showsPresence, ...(connection && { keepIdentitySecret: keepsSecret }) };
}
