import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { api } from '../../api/client';
import type { ChannelConnection, DisconnectedChannel } from '../../api/types';
import { useChange } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { ConfirmDialog, Dialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function DisconnectDialog({
  connection,
  onClose,
}: {
  connection: ChannelConnection;
  onClose: () => void;
}) {
  const texts = useTexts();
  const label = CHANNEL_LABELS[connection.channel];
  const disconnect = useChange(
    (at) => api.delete<DisconnectedChannel>(`${at}/channels/${connection.id}`),
    texts.channels.disconnected,
  );
  const fault = disconnect.data?.providerFault;
  if (fault) {
    return (
      <Dialog title={texts.channels.disconnected} onClose={onClose}>
        <Stack>
          <Alert color="yellow" title={texts.channels.providerFault}>
            {fault}
          </Alert>
          <Group justify="end">
            <Button onClick={onClose}>{texts.common.close}</Button>
          </Group>
        </Stack>
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      title={texts.channels.disconnectNamed(label)}
      action={texts.channels.disconnect}
      name={label}
      isPending={disconnect.isPending}
      error={disconnect.error}
      onConfirm={() =>
        disconnect.mutate(undefined, { onSuccess: ({ providerFault }) => providerFault ?? onClose() })
      }
      onClose={onClose}
    >
      <Text size="sm">{texts.channels.disconnectAdvice}</Text>
    </ConfirmDialog>
  );
}
