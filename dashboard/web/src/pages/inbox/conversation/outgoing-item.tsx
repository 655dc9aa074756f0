import { Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconClock } from '@tabler/icons-react';
import { ErrorNotice } from '../../../common/error-notice';
import { useTexts } from '../../../i18n/locale';
import { ColleagueReplied } from '../reply/colleague-replied';
import { OutgoingFiles } from '../files/lazy-files';
import classes from '../inbox.module.css';
import { toError } from '../reply/kept-failure';
import { isOvertaken } from '../reply/sending-options';
import type { Outgoing } from '../reply/use-sending';

export function OutgoingItem({
  conversationId,
  message,
  onRetry,
  onSendAnyway,
  onEdit,
}: {
  conversationId: string;
  message: Outgoing;
  onRetry: () => void;
  onSendAnyway: (seenMessageId: string) => void;
  onEdit: () => void;
}) {
  const { inbox, common } = useTexts();
  const { body, files = [], isSending, failure } = message;
  const error = failure && toError(failure);
  const asks = !isSending && isOvertaken(error);
  const isRefused = error !== undefined && error.status !== 0;
  return (
    <article className={classes.message} data-from="agent" data-unsent>
      {body !== '' && (
        <p className={classes.body} dir="auto">
          {body}
        </p>
      )}
      {files.length > 0 && <OutgoingFiles files={files} />}
      <div className={classes.meta} role="status">
        <span>{inbox.you}</span>
        <span className={classes.mark} data-status={isSending ? 'SENDING' : 'FAILED'}>
          {isSending ? (
            <IconClock size={14} stroke={1.8} aria-hidden />
          ) : (
            <IconAlertTriangle size={14} stroke={1.8} aria-hidden />
          )}
          {isSending ? inbox.sending : inbox.notSent}
        </span>
      </div>
      {asks && (
        <div className={classes.trouble}>
          <ColleagueReplied
            conversationId={conversationId}
            message={message}
            onSend={onSendAnyway}
            onEdit={onEdit}
          />
        </div>
      )}
      {!isSending && !asks && (
        <div className={classes.trouble}>
          {isRefused ? <ErrorNotice error={error} /> : <Text size="xs">{inbox.notSentAdvice}</Text>}
          <Group gap="xs">
            <Button size="compact-xs" onClick={onRetry}>
              {common.tryAgain}
            </Button>
            <Button size="compact-xs" variant="default" onClick={onEdit}>
              {inbox.edit}
            </Button>
          </Group>
        </div>
      )}
    </article>
  );
}
