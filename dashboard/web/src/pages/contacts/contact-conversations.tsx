import { Button, Skeleton, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ContactConversation } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS, ChannelLogo } from '../../common/channel-logo';
import { ErrorNotice } from '../../common/error-notice';
import { useNow } from '../../common/use-now';
import { useFormats, useTexts } from '../../i18n/locale';
import { CustomerText } from '../inbox/placeholders';
import classes from './contacts.module.css';
import { useContactConversations } from './use-contact';

const MINUTE_MS = 60_000;

export function ContactConversations({
  contactId,
  openId,
}: {
  contactId: string;
  openId: string | undefined;
}) {
  const { contacts, inbox } = useTexts();
  const pages = useContactConversations(contactId);
  const items = pages.data?.pages.flatMap(({ data }) => data);
  if (!items)
    return pages.error ? (
      <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />
    ) : (
      <Skeleton height={40} />
    );
  return (
    <>
      {items.length === 0 && (
        <Text size="sm" c="dimmed">
          {contacts.noConversation}
        </Text>
      )}
      <ul className={classes.list}>
        {items.map((item) => (
          <li key={item.id}>
            <Item item={item} isOpen={item.id === openId} />
          </li>
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button
          size="xs"
          variant="subtle"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {inbox.olderConversations}
        </Button>
      )}
    </>
  );
}

function Item({ item, isOpen }: { item: ContactConversation; isOpen: boolean }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const now = useNow(MINUTE_MS);
  const { slug } = useWorkspace();
  const { id, sourceChannel, status, lastMessagePreview: text, lastMessageAt, createdAt } = item;
  return (
    <Link
      to="/w/$slug/inbox/$conversationId"
      params={{ slug, conversationId: id }}
      search={{ view: 'all', ...(status !== 'OPEN' && { status }) }}
      className={classes.conversation}
      aria-current={isOpen ? 'true' : undefined}
    >
      <ChannelLogo channel={sourceChannel} size={24} />
      <span className={classes.conversationText}>
        <span className={classes.preview} dir="auto">
          {!text ? inbox.noMessage : item.lastSenderAgentId === null ? <CustomerText text={text} /> : text}
        </span>
        <span className={classes.about}>
          {CHANNEL_LABELS[sourceChannel]} · {inbox.status[status]} ·{' '}
          {formats.past(lastMessageAt ?? createdAt, now)}
        </span>
      </span>
    </Link>
  );
}
