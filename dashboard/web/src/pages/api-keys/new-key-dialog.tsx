import { Alert, Button, Group, Stack } from '@mantine/core';
import { useSession } from '../../api/session';
import type { CreatedApiKey, Scope } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';
import { useApiKeyTexts } from './api-key-texts';

/** Paths with which a new key can be tried, and the scopes that they need. Any key may read `/me`. */
const TRIALS: [Scope, string][] = [
  ['conversations:read', '/conversations'],
  ['contacts:read', '/contacts'],
];

export function NewKeyDialog({ apiKey, onClose }: { apiKey: CreatedApiKey; onClose: () => void }) {
  const texts = useTexts();
  const apiKeys = useApiKeyTexts();
  const { apiUrl } = useSession();
  const path = TRIALS.find(([scope]) => apiKey.scopes.includes(scope))?.[1] ?? '/me';
  const line = `curl ${apiUrl}${path} -H 'Authorization: Bearer ${apiKey.key}'`;
  return (
    <Dialog title={apiKeys.newKey(apiKey.name)} onClose={onClose} size="lg" closable={false}>
      <Stack>
        <Alert color="yellow" title={texts.common.shownOnce}>
          {apiKeys.shownOnceAdvice}
        </Alert>
        <CopyBlock label={apiKeys.key} value={apiKey.key} wrap />
        <CopyBlock label={apiKeys.tryIt} value={line} wrap />
        <Group justify="end">
          <Button onClick={onClose}>{texts.common.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
