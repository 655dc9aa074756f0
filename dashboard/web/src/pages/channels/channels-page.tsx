import { Alert, Badge, Box, Button, Text } from '@mantine/core';
import { useState } from 'react';
import type { Channel, ConnectedChannel, ChannelConnection } from '../../api/types';
import { useMayManage, useRead } from '../../api/workspace';
import { CHANNEL_LABELS, ChannelLogo } from '../../common/channel-logo';
import { CONNECTION_COLORS } from '../../common/connection-colors';
import { TableSkeleton } from '../../common/data-table';
import { ErrorNotice } from '../../common/error-notice';
import { PageLayout } from '../../common/page';
import rowList from '../../common/row-list.module.css';
import { Section } from '../../common/section';
import { useLocale, useTexts } from '../../i18n/locale';
import { CHANNEL_GUIDES, CHANNELS } from './channel-guides';
import { ConnectDialog } from './connect-dialog';
import { ConnectionDetails } from './connection-details';
import { DisconnectDialog } from './disconnect-dialog';
import { RevealDialog } from './reveal-dialog';

type Open =
  | { act: 'connect'; channel: Channel; connection?: ChannelConnection }
  | { act: 'disconnect'; connection: ChannelConnection }
  | { act: 'reveal'; connection: ConnectedChannel; isNew: boolean };

export function ChannelsPage() {
  const texts = useTexts();
  const connections = useRead<{ data: ChannelConnection[] }>('channels');
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const connected = connections.data?.data.filter(({ status }) => status !== 'DISCONNECTED');
  const others = CHANNELS.filter((channel) => !connected?.some((one) => one.channel === channel));
  return (
    <PageLayout title={texts.channels.title} about={texts.channels.about}>
      <ErrorNotice error={connections.error} onRetry={() => void connections.refetch()} />
      {connected
        ? CHANNELS.map((channel) => {
            const connection = connected.find((one) => one.channel === channel);
            return (
              connection && <ConnectedChannelSection key={channel} connection={connection} onOpen={setOpen} />
            );
          })
        : !connections.error && <TableSkeleton />}
      {connected && others.length > 0 && (
        <Section title={connected.length > 0 ? texts.channels.more : texts.channels.choose}>
          <ul className={rowList.rows}>
            {others.map((channel) => (
              <OtherChannel key={channel} channel={channel} onOpen={setOpen} />
            ))}
          </ul>
        </Section>
      )}
      {open?.act === 'connect' && (
        <ConnectDialog
          channel={open.channel}
          connection={open.connection}
          onClose={close}
          onDone={(connection) => {
            const isShown = !open.connection || Object.keys(connection.reveal).length > 0;
            setOpen(isShown ? { act: 'reveal', connection, isNew: !open.connection } : null);
          }}
        />
      )}
      {open?.act === 'disconnect' && <DisconnectDialog connection={open.connection} onClose={close} />}
      {open?.act === 'reveal' && (
        <RevealDialog connection={open.connection} isNew={open.isNew} onClose={close} />
      )}
    </PageLayout>
  );
}

function ConnectedChannelSection({
  connection,
  onOpen,
}: {
  connection: ChannelConnection;
  onOpen: (open: Open) => void;
}) {
  const texts = useTexts();
  const locale = useLocale();
  const mayManage = useMayManage();
  const { channel, status } = connection;
  const label = CHANNEL_LABELS[channel];
  const rotate = CHANNEL_GUIDES[channel].rotate[locale];
  return (
    <Section
      title={label}
      icon={<ChannelLogo channel={channel} size={40} />}
      about={<Badge color={CONNECTION_COLORS[status]}>{texts.channels.status[status]}</Badge>}
      actions={
        mayManage && (
          <>
            <Button
              variant={status === 'REAUTH_REQUIRED' ? 'filled' : 'default'}
              size="xs"
              aria-label={`${rotate}: ${label}`}
              onClick={() => onOpen({ act: 'connect', channel, connection })}
            >
              {rotate}
            </Button>
            <Button
              variant="default"
              size="xs"
              aria-label={texts.channels.disconnectNamed(label)}
              onClick={() => onOpen({ act: 'disconnect', connection })}
            >
              {texts.channels.disconnect}
            </Button>
          </>
        )
      }
    >
      {status === 'REAUTH_REQUIRED' && <Alert color="red">{texts.channels.reauthAdvice}</Alert>}
      <ConnectionDetails connection={connection} />
    </Section>
  );
}

function OtherChannel({ channel, onOpen }: { channel: Channel; onOpen: (open: Open) => void }) {
  const texts = useTexts();
  const locale = useLocale();
  const mayManage = useMayManage();
  const label = CHANNEL_LABELS[channel];
  return (
    <li>
      <ChannelLogo channel={channel} size={32} />
      <Box flex={1}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <Text size="sm" c="dimmed">
          {CHANNEL_GUIDES[channel].about[locale]}
        </Text>
      </Box>
      {mayManage && (
        <Button
          variant="default"
          size="xs"
          aria-label={texts.channels.connectNamed(label)}
          onClick={() => onOpen({ act: 'connect', channel })}
        >
          {texts.channels.connect}
        </Button>
      )}
    </li>
  );
}
