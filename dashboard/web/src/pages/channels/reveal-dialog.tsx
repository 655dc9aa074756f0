import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import type { ConnectedChannel } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useLocale, useTexts } from '../../i18n/locale';
import { CHANNEL_GUIDES } from './channel-guides';

/** Shows values that must be entered elsewhere after connecting. Secrets are shown only once. */
export function RevealDialog({ connection, onClose }: { connection: ConnectedChannel; onClose: () => void }) {
  const texts = useTexts();
  const locale = useLocale();
  const { channel, hookUrl, reveal, snippet } = connection;
  const { label, after, isHookEntered, revealed } = CHANNEL_GUIDES[channel];
  const secrets = Object.entries(reveal);
  return (
    <Dialog
      title={texts.channels.connectedTitle(label)}
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
            <CopyBlock label={name} value={value} wrap />
            <Text size="sm" c="dimmed">
              {revealed[name]?.[locale]}
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
