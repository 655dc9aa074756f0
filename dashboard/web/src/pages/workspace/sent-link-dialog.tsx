import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { SentLink } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { Dialog } from '../../common/dialogs';
import { useFormats, useTexts } from '../../i18n/locale';

/** Says that the link was sent to the agent by mail, or shows the link, which the person must pass on. */
export function SentLinkDialog({
  sent: { link, expiresAt },
  agentName,
  onClose,
}: {
  sent: SentLink;
  agentName: string;
  onClose: () => void;
}) {
  const texts = useTexts();
  const formats = useFormats();
  return (
    <Dialog title={texts.sentLink.title} about={agentName} onClose={onClose} closable={link === null}>
      <Stack>
        {link === null ? (
          <Text>{texts.sentLink.byMail}</Text>
        ) : (
          <>
            <Alert color="yellow" title={texts.common.shownOnce}>
              {texts.sentLink.byHand}
            </Alert>
            <CopyBlock label={texts.sentLink.link} value={link} wrap />
          </>
        )}
        <Text size="sm" c="dimmed">
          {texts.sentLink.until(formats.moment(expiresAt))}
        </Text>
        <Group justify="end">
          <Button onClick={onClose}>{link === null ? texts.common.close : texts.common.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
