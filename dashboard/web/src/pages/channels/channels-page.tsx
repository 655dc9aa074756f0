import { Badge, Button, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import type { Channel, ConnectedChannel, ChannelConnection } from '../../api/types';
import { useMayManage, useRead } from '../../api/workspace';
import { TableSkeleton } from '../../common/data-table';
import { ErrorNotice } from '../../common/error-notice';
import { PageLayout } from '../../common/page';
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
  | { act: 'reveal'; connection: ConnectedChannel };

const COLORS = { ACTIVE: 'green', REAUTH_REQUIRED: 'red', DISCONNECTED: 'gray' } as const;

export function ChannelsPage() {
  const texts = useTexts();
  const connections = useRead<{ data: ChannelConnection[] }>('channels');
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const connected = connections.data?.data.filter(({ status }) => status !== 'DISCONNECTED');
  return (
    <PageLayout title={texts.channels.title} about={texts.channels.about}>
      <ErrorNotice error={connections.error} onRetry={() => void connections.refetch()} />
      {connected ? (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          {CHANNELS.map((channel) => (
            <ChannelCard
              key={channel}
              channel={channel}
              connection={connected.find((one) => one.channel === channel)}
              onOpen={setOpen}
            />
          ))}
        </SimpleGrid>
      ) : (
        !connections.error && <TableSkeleton />
      )}
      {open?.act === 'connect' && (
        <ConnectDialog
          channel={open.channel}
          connection={open.connection}
          onClose={close}
          onDone={(connection) => setOpen({ act: 'reveal', connection })}
        />
      )}
      {open?.act === 'disconnect' && <DisconnectDialog connection={open.connection} onClose={close} />}
      {open?.act === 'reveal' && <RevealDialog connection={open.connection} onClose={close} />}
    </PageLayout>
  );
}

function ChannelCard({
  channel,
  connection,
  onOpen,
}: {
  channel: Channel;
  connection: ChannelConnection | undefined;
  onOpen: (open: Open) => void;
}) {
  const texts = useTexts();
  const locale = useLocale();
  const mayManage = useMayManage();
  const { label, rotate } = CHANNEL_GUIDES[channel];
  return (
    <Section
      title={label}
      about={
        connection ? (
          <Badge color={COLORS[connection.status]}>{texts.channels.status[connection.status]}</Badge>
        ) : (
          texts.channels.notConnected
        )
      }
      actions={
        mayManage &&
        (connection ? (
          <>
            <Button
              variant={connection.status === 'REAUTH_REQUIRED' ? 'filled' : 'default'}
              size="xs"
              aria-label={`${rotate[locale]}: ${label}`}
              onClick={() => onOpen({ act: 'connect', channel, connection })}
            >
              {rotate[locale]}
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
        ) : (
          <Button
            size="xs"
            aria-label={texts.channels.connectNamed(label)}
            onClick={() => onOpen({ act: 'connect', channel })}
          >
            {texts.channels.connect}
          </Button>
        ))
      }
    >
      {connection?.status === 'REAUTH_REQUIRED' && <Text size="sm">{texts.channels.reauthAdvice}</Text>}
      {connection && <ConnectionDetails connection={connection} />}
    </Section>
  );
}
