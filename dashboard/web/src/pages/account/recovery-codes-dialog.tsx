import { Alert, Button, Group, Stack } from '@mantine/core';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';

export function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const texts = useTexts();
  return (
    <Dialog title={texts.secondFactor.codes} onClose={onClose} closable={false}>
      <Stack>
        <Alert color="yellow" title={texts.common.shownOnce}>
          {texts.secondFactor.codesAdvice}
        </Alert>
        <CopyBlock label={texts.secondFactor.codes} value={codes.join('\n')} />
        <Group justify="end">
          <Button onClick={onClose}>{texts.common.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
