import { Text } from '@mantine/core';
import { api } from '../../api/client';
import type { ApiKey } from '../../api/types';
import { useChange } from '../../api/workspace';
import { ConfirmDialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const texts = useTexts();
  const revoke = useChange((at) => api.post(`${at}/api-keys/${apiKey.id}/revoke`), texts.apiKeys.revokedDone);
  return (
    <ConfirmDialog
      title={texts.apiKeys.revokeNamed(apiKey.name)}
      action={texts.apiKeys.revoke}
      name={apiKey.name}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Text size="sm">{texts.apiKeys.revokeAdvice}</Text>
    </ConfirmDialog>
  );
}
