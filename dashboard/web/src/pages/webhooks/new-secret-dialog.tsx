import '@mantine/core/styles/Tabs.css';
import { Alert, Button, Group, Stack, Tabs } from '@mantine/core';
import python from '../../../../../examples/verify_webhook.py?raw';
import node from '../../../../../examples/verify-webhook.ts?raw';
import { useMayManage } from '../../api/workspace';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function NewSecretDialog({
  secret,
  onTest,
  onClose,
}: {
  secret: string;
  onTest?: () => void;
  onClose: () => void;
}) {
  const texts = useTexts();
  const mayManage = useMayManage();
  return (
    <Dialog title={texts.webhooks.newSecret} onClose={onClose} size="lg" closable={false}>
      <Stack>
        <Alert color="yellow" title={texts.common.shownOnce}>
          {texts.webhooks.secretAdvice}
        </Alert>
        <CopyBlock label={texts.webhooks.secret} value={secret} wrap />
        <Tabs defaultValue="node" keepMounted={false}>
          <Tabs.List aria-label={texts.webhooks.verify}>
            <Tabs.Tab value="node">Node</Tabs.Tab>
            <Tabs.Tab value="python">Python</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="node" pt="sm">
            <CopyBlock label={texts.webhooks.verifyIn('Node')} value={node} />
          </Tabs.Panel>
          <Tabs.Panel value="python" pt="sm">
            <CopyBlock label={texts.webhooks.verifyIn('Python')} value={python} />
          </Tabs.Panel>
        </Tabs>
        <Group justify="end">
          {onTest && mayManage && (
            <Button variant="default" onClick={onTest}>
              {texts.webhooks.storedAndTest}
            </Button>
          )}
          <Button onClick={onClose}>{texts.common.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
