import { Text } from '@mantine/core';
import { api } from '../../api/client';
import type { Agent } from '../../api/types';
import { useChange } from '../../api/workspace';
import { ConfirmDialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function EraseAgentDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const texts = useTexts();
  const erase = useChange((at) => api.post(`${at}/agents/${agent.id}/erase`), texts.agents.erased);
  return (
    <ConfirmDialog
      title={texts.agents.eraseNamed(agent.name)}
      action={texts.agents.erase}
      name={agent.name}
      isPending={erase.isPending}
      error={erase.error}
      onConfirm={() => erase.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Text size="sm">{texts.agents.eraseAdvice}</Text>
    </ConfirmDialog>
  );
}
