import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import type { ConnectedChannel } from '../../api/types';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useLocale, useTexts } from '../../i18n/locale';
import { CHANNEL_GUIDES } from './channel-guides';

/** Shows the steps that remain after connecting, and secrets that are never shown again. */
export function RevealDialog({
  connection,
  isNew,
  onClose,
}: {
  connection: ConnectedChannel;
  isNew: boolean;
  onClose: () => void;
}) {
  const texts = useTexts();
  const locale = useLocale();
  const { channel, hookUrl, reveal, snippet } = connection;
  const { after, isHookEntered, revealed, rotated } = CHANNEL_GUIDES[channel];
  const secrets = Object.entries(reveal);
  return (
    <Dialog
      title={isNew ? texts.channels.connectedTitle(CHANNEL_LABELS[channel]) : rotated[locale]}
      onClose={onClose}
      size="lg"
      closable={secrets.length === 0}
    >
      <Stack>
        <List type="ordered" size="sm">
          {after[locale].map((step) => (
            <List.Item key={step}>{step}</List.Item>
          ))}
        </List>
        {snippet && <CopyBlock label={texts.channels.snippet} value={snippet} wrap />}
        {isHookEntered && <CopyBlock label={texts.channels.hook} value={hookUrl} wrap />}
        {secrets.length > 0 && <Alert color="yellow" title={texts.common.shownOnce} />}
        {secrets.map(([name, value]) => (
          <div key={name}>
            <CopyBlock label={revealed[name]?.label[locale] ?? name} value={value} wrap />
            <Text size="sm" c="dimmed">
              {revealed[name]?.about[locale]}
            </Text>
          </div>
        ))}
        <Group justify="end">
          <Button onClick={onClose}>{secrets.length > 0 ? texts.common.stored : texts.common.close}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
