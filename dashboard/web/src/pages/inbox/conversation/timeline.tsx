import { Skeleton, Stack, Text } from '@mantine/core';
import { Fragment, memo, type Ref, useCallback, useEffect, useMemo, useState } from 'react';
import type { Channel, Conversation, Message } from '../../../api/types';
import { ErrorNotice } from '../../../common/error-notice';
import { useNow } from '../../../common/use-now';
import { useFormats, useTexts } from '../../../i18n/locale';
import { ChangeLine } from './change-line';
import { Found, NewerMessages, useFoundId, useMessagesAround } from './found-message';
import { Viewer } from '../files/lazy-files';
import classes from '../inbox.module.css';
import { LoadMore } from '../list/load-more';
import { MessageItem } from './message-item';
import { contactName } from '../../../common/contact-name';
import { NoteItem } from './note-item';
import { OutgoingItem } from './outgoing-item';
import { entriesOf, type Entry, idOf, shownOf } from './timeline-entries';
import { type LoadedPages, useChanges, useMessages } from '../use-inbox';
import { useNotes } from '../reply/use-notes';
import type { useSending } from '../reply/use-sending';

const HOUR_MS = 3_600_000;

export function Timeline({
  conversation,
  sending,
  endRef,
}: {
  conversation: Conversation;
  sending: ReturnType<typeof useSending>;
  /** Ref of the place below the newest message. */
  endRef: Ref<HTMLDivElement>;
}) {
  const { id, sourceChannel, contact, updatedAt } = conversation;
  const { inbox, common } = useTexts();
  const foundId = useFoundId();
  const newest = useMessages(id);
  const around = useMessagesAround(id, foundId);
  const { items: messages, ...pages } = foundId ? around : newest;
  const isCut = foundId !== undefined && around.hasPreviousPage;
  const since = pages.hasNextPage ? messages?.at(-1)?.createdAt : undefined;
  const until = isCut ? messages?.[0]?.createdAt : undefined;
  const changes = useShown(useChanges(id, updatedAt), since, until);
  const notes = useShown(useNotes(id), since, until);
  const entries = useMemo(() => entriesOf(messages ?? [], changes, notes), [messages, changes, notes]);
  const [pictureId, setPictureId] = useState<string>();
  const { send } = sending;
  const sendAgain = useCallback(
    ({ id, body }: Message) => send({ key: id, body, closes: false, repeatsId: id }),
    [send],
  );

  return (
    // CSS scrolls this region from its end, so that loading older messages above moves nothing.
    <div className={classes.scroller} tabIndex={0} role="region" aria-label={inbox.messages}>
      <div className={classes.timeline}>
        {!messages && !pages.error && (
          <Stack role="status" aria-busy="true" aria-label={common.loading}>
            <Skeleton height={48} width="60%" />
            <Skeleton height={48} width="45%" ml="auto" />
            <Skeleton height={48} width="55%" />
          </Stack>
        )}
        {!messages && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
        {messages && !pages.hasNextPage && (
          <Text size="xs" c="dimmed" ta="center">
            {inbox.begin}
          </Text>
        )}
        <LoadMore pages={pages} label={inbox.olderMessages} />
        <Entries
          entries={entries}
          conversationId={id}
          channel={sourceChannel}
          customer={contactName(sourceChannel, contact)}
          foundId={foundId}
          outgoingRepeats={sending.outgoing.map(({ repeatsId }) => repeatsId).join()}
          onOpenPicture={setPictureId}
          onSendAgain={sendAgain}
        />
        {foundId && <NewerMessages pages={around} outgoing={sending.outgoing.length} />}
        {sending.outgoing.map((message) => (
          <OutgoingItem
            key={message.key}
            conversationId={id}
            message={message}
            onRetry={() => sending.retry(message)}
            onSendAnyway={(seenMessageId) => sending.sendAnyway(message, seenMessageId)}
            onEdit={() => sending.edit(message)}
          />
        ))}
        {!isCut && <div ref={endRef} />}
        {pictureId !== undefined && messages && (
          <Viewer messages={messages} firstId={pictureId} onClose={() => setPictureId(undefined)} />
        )}
      </div>
    </div>
  );
}

const Entries = memo(function Entries({
  entries,
  conversationId,
  channel,
  customer,
  foundId,
  outgoingRepeats,
  onOpenPicture,
  onSendAgain,
}: {
  entries: Entry[];
  conversationId: string;
  channel: Channel;
  customer: string;
  foundId: string | undefined;
  /** Ids of failed messages that are being sent again, joined by commas. */
  outgoingRepeats: string;
  onOpenPicture: (attachmentId: string) => void;
  onSendAgain: (message: Message) => void;
}) {
  const formats = useFormats();
  const now = useNow(HOUR_MS);
  const repeated = new Set<string | null | undefined>(outgoingRepeats.split(','));
  for (const entry of entries) if ('message' in entry) repeated.add(entry.message.repeatsId);
  return entries.map((entry, index) => {
    const before = entries[index - 1];
    return (
      <Fragment key={idOf(entry)}>
        {before?.day !== entry.day && <div className={classes.day}>{formats.nearDay(entry.day, now)}</div>}
        {'message' in entry ? (
          <Found isFound={entry.message.id === foundId}>
            <MessageItem
              message={entry.message}
              conversationId={conversationId}
              channel={channel}
              customer={customer}
              wasSentAgain={repeated.has(entry.message.id)}
              onOpenPicture={onOpenPicture}
              onSendAgain={onSendAgain}
            />
          </Found>
        ) : 'note' in entry ? (
          <NoteItem note={entry.note} conversationId={conversationId} />
        ) : (
          <ChangeLine change={entry.change} />
        )}
      </Fragment>
    );
  });
});

/**
 * Returns the changes or notes in the shown part of the conversation. Reads further pages until they reach
 * the oldest shown message.
 * @param since time of the oldest shown message; undefined once all messages are loaded
 * @param until time of the newest shown message; undefined if it is the conversation's newest
 */
function useShown<T extends { createdAt: string }>(
  { items, hasNextPage, isFetching, isError, fetchNextPage }: LoadedPages & { items?: T[] },
  since: string | undefined,
  until: string | undefined,
): T[] {
  const oldest = items?.at(-1)?.createdAt;
  const isShort = since === undefined || oldest === undefined || oldest > since;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage]);
  return useMemo(() => shownOf(items ?? [], since, until), [items, since, until]);
}
