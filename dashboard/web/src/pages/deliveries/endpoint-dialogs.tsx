import { Text } from '@mantine/core';
import { api } from '../../api/client';
import type { Endpoint } from '../../api/types';
import { useChange } from '../../api/workspace';
import { ConfirmDialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function DeactivateEndpointDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const texts = useTexts();
  const deactivate = useChange(
    (at) => api.post(`${at}/webhook-endpoints/${endpoint.id}/deactivate`),
    texts.webhooks.deactivatedDone,
  );
  return (
    <ConfirmDialog
      title={texts.webhooks.deactivate}
      about={endpoint.name ?? endpoint.url}
      action={texts.webhooks.deactivate}
      isPending={deactivate.isPending}
      error={deactivate.error}
      onConfirm={() => deactivate.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Text size="sm">{texts.webhooks.deactivateAdvice}</Text>
    </ConfirmDialog>
  );
}

export function DeleteEndpointDialog({
  endpoint,
  onClose,
  onDeleted,
}: {
  endpoint: Endpoint;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const texts = useTexts();
  const remove = useChange(
    (at) => api.delete(`${at}/webhook-endpoints/${endpoint.id}`),
    texts.webhooks.deleted,
  );
  return (
    <ConfirmDialog
      title={texts.webhooks.delete}
      about={endpoint.name ?? endpoint.url}
      action={texts.webhooks.delete}
      name={new URL(endpoint.url).host}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onDeleted })}
      onClose={onClose}
    >
      <Text size="sm">{texts.webhooks.deleteAdvice}</Text>
    </ConfirmDialog>
  );
}
