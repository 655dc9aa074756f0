import { Anchor, Button, Loader, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../../api/client';
import type { Attachment, Channel, Message } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { ErrorNotice } from '../../../common/error-notice';
import { useTexts } from '../../../i18n/locale';
import { FileIcon } from './file-icon';
import { useFileSize } from './file-size';
import { useFileTexts } from './file-texts';
import classes from './files.module.css';
import { isPicture, useContentPath } from './picture';

/** Edges of the box, in pixels, in which a picture is shown in the conversation. */
const BOX = { width: 320, height: 320 };
/** Proportions of a video whose size is unknown. */
const VIDEO = { width: 16, height: 9 };

/** Shows the files of a message: pictures, players, and a card for each other file. */
export function MessageAttachments({
  message: { attachments },
  conversationId,
  channel,
  onOpen,
}: {
  message: Message;
  conversationId: string;
  channel: Channel;
  /** Opens a picture, by the id of its attachment. */
  onOpen: (attachmentId: string) => void;
}) {
  return (
    <ul className={classes.attachments}>
      {attachments.map((attachment) => (
        <li key={attachment.id} className={classes.attachment}>
          <AttachmentView
            attachment={attachment}
            conversationId={conversationId}
            channel={channel}
            onOpen={() => onOpen(attachment.id)}
          />
          {attachment.caption !== null && (
            <p className={classes.caption} dir="auto">
              {attachment.caption}
            </p>
          )}
          {attachments.length > 1 && attachment.delivery && <SendingFault delivery={attachment.delivery} />}
        </li>
      ))}
    </ul>
  );
}

/** Says why a file did not arrive, or perhaps not, while other files of its message did. */
function SendingFault({ delivery: { status, error } }: { delivery: Message['delivery'] }) {
  const { inbox } = useTexts();
  if (!error || !status) return null;
  return (
    <Text size="xs" maw="22rem" c="var(--mantine-color-error)">
      {inbox.delivery[status] ?? status}: {inbox.failure[error.code] ?? error.message}
    </Text>
  );
}

function AttachmentView(props: {
  attachment: Attachment;
  conversationId: string;
  channel: Channel;
  onOpen: () => void;
}) {
  const { attachment, onOpen } = props;
  const { kind, state } = attachment;
  // Media that the browser can't play or draw are a card, by which they can be saved.
  const [isBroken, setBroken] = useState(false);
  if (state === 'READY' && !isBroken) {
    const shown = { attachment, onBroken: () => setBroken(true) };
    if (isPicture(attachment)) return <Picture {...shown} onOpen={onOpen} />;
    if (kind === 'VIDEO') return <Video {...shown} />;
    if (kind === 'AUDIO') return <Audio {...shown} />;
  }
  return <Card {...props} isBroken={isBroken} />;
}

interface Shown {
  attachment: Attachment;
  onBroken: () => void;
}

function Picture({ attachment, onBroken, onOpen }: Shown & { onOpen: () => void }) {
  const texts = useFileTexts();
  const pathOf = useContentPath();
  const { id, name, width, height } = attachment;
  const label = name ?? texts.kinds.IMAGE;
  return (
    <button type="button" className={classes.picture} aria-label={texts.open(label)} onClick={onOpen}>
      <img
        src={pathOf(id, { variant: 'rendition' })}
        alt=""
        loading="lazy"
        decoding="async"
        style={spaceOf(width!, height!)}
        onError={onBroken}
      />
    </button>
  );
}

/** Returns the style that reserves a picture's space before it is loaded, so that nothing moves. */
function spaceOf(width: number, height: number) {
  const scale = Math.min(1, BOX.width / width, BOX.height / height);
  return { width: Math.max(48, width * scale), aspectRatio: `${width} / ${height}` };
}

function Video({ attachment, onBroken }: Shown) {
  const texts = useFileTexts();
  const pathOf = useContentPath();
  const { id, name, width, height } = attachment;
  const ratio = width && height ? { width, height } : VIDEO;
  return (
    <div>
      {/* Captions of a customer's video do not exist. */}
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      <video
        className={classes.video}
        style={{ aspectRatio: `${ratio.width} / ${ratio.height}` }}
        src={pathOf(id)}
        controls
        preload="metadata"
        aria-label={name ?? texts.kinds.VIDEO}
        onError={onBroken}
      />
      <SaveLink attachment={attachment} />
    </div>
  );
}

function Audio({ attachment, onBroken }: Shown) {
  const texts = useFileTexts();
  const pathOf = useContentPath();
  const { id, name } = attachment;
  return (
    <div>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      <audio
        className={classes.audio}
        src={pathOf(id, { variant: 'rendition' })}
        controls
        preload="metadata"
        aria-label={name ?? texts.kinds.AUDIO}
        onError={onBroken}
      />
      <SaveLink attachment={attachment} />
    </div>
  );
}

function SaveLink({ attachment: { id, kind, name, size } }: { attachment: Attachment }) {
  const texts = useFileTexts();
  const sizeOf = useFileSize();
  const pathOf = useContentPath();
  const label = name ?? texts.kinds[kind];
  return (
    <Anchor
      href={pathOf(id, { save: 'yes' })}
      download
      size="xs"
      className={classes.save}
      aria-label={texts.save(label)}
    >
      <bdi className={classes.name}>{label}</bdi>
      {size !== null && <span className={classes.size}>{sizeOf(size)}</span>}
      <IconDownload size={14} stroke={1.6} aria-hidden />
    </Anchor>
  );
}

function Card({
  attachment,
  conversationId,
  channel,
  isBroken,
}: {
  attachment: Attachment;
  conversationId: string;
  channel: Channel;
  isBroken: boolean;
}) {
  const texts = useFileTexts();
  const sizeOf = useFileSize();
  const pathOf = useContentPath();
  const { id, kind, name, size, contentType, state, problem } = attachment;
  const label = name ?? texts.kinds[kind] ?? texts.kinds.FILE;
  const states = {
    PENDING: () => texts.pending,
    LINK_ONLY: () => texts.linkOnly(CHANNEL_LABELS[channel]),
    FAILED: () => (problem && texts.problems[problem]) ?? texts.failed,
    READY: () => (isBroken ? texts.notShown : null),
  };
  const about = states[state]?.();
  return (
    <div className={classes.card} data-state={state}>
      {state === 'PENDING' ? (
        <span className={classes.icon}>
          <Loader size={18} />
        </span>
      ) : (
        <FileIcon kind={kind} type={contentType} />
      )}
      <div className={classes.about}>
        <div className={classes.line}>
          <bdi className={classes.name} title={label}>
            {label}
          </bdi>
          {size !== null && <span className={classes.size}>{sizeOf(size)}</span>}
        </div>
        {about && (
          <Text size="xs" className={classes.state} role={state === 'PENDING' ? 'status' : undefined}>
            {about}
          </Text>
        )}
        {state === 'FAILED' && <FetchAgain attachmentId={id} conversationId={conversationId} />}
      </div>
      {state === 'READY' && (
        <a
          className={classes.saveButton}
          href={pathOf(id, { save: 'yes' })}
          download
          aria-label={texts.save(label)}
          title={texts.save(label)}
        >
          <IconDownload size={18} stroke={1.6} aria-hidden />
        </a>
      )}
    </div>
  );
}

/** Has a file fetched again from the channel's provider. */
function FetchAgain({ attachmentId, conversationId }: { attachmentId: string; conversationId: string }) {
  const texts = useFileTexts();
  const { id: workspaceId, isSuspended, isTrialExpired } = useWorkspace();
  const queries = useQueryClient();
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (isSuspended || isTrialExpired) return null;
  const fetchAgain = async () => {
    setPending(true);
    setError(null);
    try {
      await api.post(`/workspaces/${workspaceId}/attachments/${attachmentId}/retry`);
      await queries.invalidateQueries({
        queryKey: ['workspaces', workspaceId],
        predicate: ({ queryKey }) => queryKey.includes('messages') && queryKey.includes(conversationId),
      });
    } catch (fault) {
      setError(fault);
    } finally {
      setPending(false);
    }
  };
  return (
    <>
      <Button size="compact-xs" variant="default" loading={isPending} onClick={() => void fetchAgain()}>
        {texts.fetchAgain}
      </Button>
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
}
