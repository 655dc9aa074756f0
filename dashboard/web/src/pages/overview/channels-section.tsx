import { Badge, Box, Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ManagedFirstPage } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS, ChannelLogo } from '../../common/channel-logo';
import { CONNECTION_COLORS } from '../../common/connection-colors';
import { Moment } from '../../common/moment';
import rowList from '../../common/row-list.module.css';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';

export function ChannelsSection({ channels }: { channels: ManagedFirstPage['channels'] }) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  return (
    <Section
      title={texts.channels.title}
      actions={
        <Button
          component={Link}
          to={`/w/${encodeURIComponent(slug)}/settings/channels`}
          variant="default"
          size="compact-sm"
        >
          {texts.overview.all}
        </Button>
      }
    >
      {channels.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.overview.noChannel}
        </Text>
      ) : (
        <ul className={rowList.rows}>
          {channels.map(({ channel, status, lastReceivedAt }) => (
            <li key={channel}>
              <ChannelLogo channel={channel} size={24} />
              <Box flex={1}>
                <Text size="sm" fw={500}>
                  {CHANNEL_LABELS[channel]}
                </Text>
                <Text size="xs" c="dimmed">
                  {texts.channels.lastReceived}: <Moment at={lastReceivedAt} none={texts.common.never} />
                </Text>
              </Box>
              <Badge color={CONNECTION_COLORS[status]}>{texts.channels.status[status]}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
