import { Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconChecks, IconClock, IconHelpCircle } from '@tabler/icons-react';
import { memo, useState } from 'react';
import type { Channel, DeliveryStatus, Message } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { ConfirmDialog } from '../../../common/dialogs';
import { useFormats, useTexts } from '../../../i18n/locale';
import { MessageAttachments } from '../files/lazy-files';
import classes from '../inbox.module.css';
import { useAgentName } from '../names';
import { CustomerText } from '../placeholders';
import { DismissButton } from './dismiss-button';
import { EditedMark, Reactions } from './message-changes';

const ICONS: Record<DeliveryStatus, typeof IconCheck> = {
  QUEUED: IconClock,
  SENDING: IconClock,
  SENT: IconCheck,
  DELIVERED: IconChecks,
  READ: IconChecks,
  FAILED: IconAlertTriangle,
  UNKNOWN: IconHelpCircle,
};

export const MessageItem = memo(function MessageItem({
  message,
  conversationId,
  channel,
  customer,
  wasSentAgain,
  onOpenPicture,
  onSendAgain,
}: {
  message: Message;
  conversationId: string;
  channel: Channel;
  customer: string;
  wasSentAgain: boolean;
  onOpenPicture: (attachmentId: string) => void;
  onSendAgain: (message: Message) => void;
}) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const nameOf = useAgentName();
  const { senderType, senderAgentId, body, isDescribed, attachments, createdAt } = message;
  const hasFiles = attachments.length > 0;
  const isCustomer = senderType === 'CUSTOMER';
  const sender = isCustomer ? customer : senderAgentId ? nameOf(senderAgentId) : inbox.unknownAgent;
  return (
    <article className={classes.message} data-from={isCustomer ? 'customer' : 'agent'}>
      {body === '' ? (
        <p className={classes.body} data-erased>
          {message.unsentAt === null ? inbox.erasedMessage : inbox.unsentMessage}
        </p>
      ) : (
        !(isDescribed && hasFiles) && (
          <p className={classes.body} dir="auto">
            {isCustomer ? <CustomerText text={body} /> : body}
          </p>
        )
      )}
      {hasFiles && (
        <MessageAttachments
          message={message}
          conversationId={conversationId}
          channel={channel}
          onOpen={onOpenPicture}
        />
      )}
      <Reactions message={message} />
      <div className={classes.meta}>
        <bdi className={classes.sender}>{sender}</bdi>
        <time dateTime={createdAt} title={formats.moment(createdAt)}>
          {formats.time(createdAt)}
        </time>
        {!isCustomer && <DeliveryMark status={message.delivery.status} />}
        <EditedMark message={message} />
      </div>
      <Trouble
        message={message}
        conversationId={conversationId}
        wasSentAgain={wasSentAgain}
        onSendAgain={onSendAgain}
      />
    </article>
  );
});

function DeliveryMark({ status }: { status: DeliveryStatus | null }) {
  const { inbox } = useTexts();
  if (status === null) return null;
  const Icon = ICONS[status] ?? IconHelpCircle;
  return (
    <span className={classes.mark} data-status={status}>
      <Icon size={14} stroke={1.8} aria-hidden />
      {inbox.delivery[status] ?? status}
    </span>
  );
}

/** Says why a message was not delivered. Offers to send it again or to dismiss it. */
function Trouble({
  message,
  conversationId,
  wasSentAgain,
  onSendAgain,
}: {
  message: Message;
  conversationId: string;
  wasSentAgain: boolean;
  onSendAgain: (message: Message) => void;
}) {
  const { inbox } = useTexts();
  const { isSuspended, isTrialExpired } = useWorkspace();
  const [isAsking, setAsking] = useState(false);
  const { status, error } = message.delivery;
  if (!error) return null;
  const isOver = status === 'FAILED' || status === 'UNKNOWN';
  const maySend = isOver && message.body !== '' && !isSuspended && !isTrialExpired;
  return (
    <div className={classes.trouble}>
      <Text size="xs">{inbox.failure[error.code] ?? error.message}</Text>
      {wasSentAgain && (
        <Text size="xs" c="dimmed">
          {inbox.sentAgain}
        </Text>
      )}
      {maySend && !wasSentAgain && (
        <Group gap="xs">
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => (status === 'UNKNOWN' ? setAsking(true) : onSendAgain(message))}
          >
            {inbox.sendAgain}
          </Button>
          {!message.isDismissed && <DismissButton conversationId={conversationId} messageId={message.id} />}
        </Group>
      )}
      {isAsking && (
        <ConfirmDialog
          title={inbox.askSendAgain}
          about={message.body}
          action={inbox.sendAgain}
          isPending={false}
          error={null}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            onSendAgain(message);
          }}
        >
          {inbox.askSendAgainAdvice}
        </ConfirmDialog>
      )}
    </div>
  );
}
