import { ActionIcon, Badge, Button, Center, EmptyState, Group, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowLeft, IconCheck, IconRotate } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ApiError } from '../../../api/client';
import type { Conversation, ConversationStatus } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS, ChannelLogo } from '../../../common/channel-logo';
import { ErrorNotice } from '../../../common/error-notice';
import { PagePending } from '../../../frame/page-states';
import { useTexts } from '../../../i18n/locale';
import { AssigneeSelect } from './assignee-select';
import { Composer } from '../reply/composer';
import { toSearch, useInboxFilter } from '../inbox-filter';
import classes from '../inbox.module.css';
import { ContactPanel, ContactPanelButton, useContactPanel } from './contact-panel';
import { contactName } from '../../../common/contact-name';
import { useAdvance } from '../list/next-conversation';
import { PresenceLine } from './presence';
import { useLooking } from './presence-signals';
import { SnoozeMenu } from './snooze-menu';
import { useSnoozeText } from './snooze-text';
import { Timeline } from './timeline';
import { UnreadToggle } from './unread-toggle';
import { useSeen } from '../alerts/use-alerts';
import { useConversation, useUpdateConversation } from '../use-inbox';
import { useKeys } from '../use-keys';
import { useReadMark } from './use-read-mark';
import { useSending } from '../reply/use-sending';

/** Width up to which the list and the conversation are separate pages, as in the style sheet. */
const NARROW = '(max-width: 62em)';

export function ConversationPane({ id }: { id: string }) {
  const { inbox } = useTexts();
  const conversation = useConversation(id);
  const panel = useContactPanel();
  const level = useHeadingLevel();
  const { error } = conversation;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Center className={classes.pane}>
        <EmptyState>
          <EmptyState.Title order={level}>{inbox.gone}</EmptyState.Title>
          <EmptyState.Description>{inbox.goneAdvice}</EmptyState.Description>
          <EmptyState.Actions>
            <BackButton />
          </EmptyState.Actions>
        </EmptyState>
      </Center>
    );
  }
  if (conversation.data) {
    return (
      <>
        <LoadedConversation conversation={conversation.data} panel={panel} />
        <ContactPanel panel={panel} contactId={conversation.data.contact.id} conversationId={id} />
      </>
    );
  }
  return (
    <div className={classes.pane}>
      {error ? <ErrorNotice error={error} onRetry={() => void conversation.refetch()} /> : <PagePending />}
    </div>
  );
}

/** Returns the level of the conversation's heading: 2 beside the list, whose heading has level 1, else 1. */
function useHeadingLevel(): 1 | 2 {
  return useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false }) ? 1 : 2;
}

function BackButton() {
  const { inbox } = useTexts();
  return (
    <Button variant="default" renderRoot={useLinkToList()}>
      {inbox.back}
    </Button>
  );
}

function LoadedConversation({
  conversation,
  panel,
}: {
  conversation: Conversation;
  panel: ReturnType<typeof useContactPanel>;
}) {
  const { id, sourceChannel, contact, status } = conversation;
  const { inbox } = useTexts();
  const snoozeText = useSnoozeText();
  const { isSuspended, isTrialExpired } = useWorkspace();
  const isReadOnly = isSuspended || isTrialExpired;
  const level = useHeadingLevel();
  const advance = useAdvance(id);
  const update = useUpdateConversation(id, ({ status = 'OPEN' }) => {
    if (status !== 'OPEN') advance();
  });
  const sending = useSending(id, advance);
  useLooking(id);
  const readMark = useReadMark(conversation);
  useSeen(id);
  const pane = useFocusWhenOpened();
  const assignee = useRef<HTMLInputElement>(null);
  const setStatus = (next: ConversationStatus) => {
    if (isReadOnly || next === status) return;
    update.mutate({ status: next });
  };
  useKeys({
    a: () => {
      assignee.current?.focus();
      assignee.current?.click();
    },
    e: () => setStatus('CLOSED'),
    u: readMark.toggle,
    i: panel.toggle,
  });
  const name = contactName(sourceChannel, contact);

  return (
    <section ref={pane} className={classes.pane} tabIndex={-1} aria-label={inbox.conversationWith(name)}>
      <header className={classes.head}>
        <Group gap="sm" wrap="nowrap" className={classes.who}>
          <BackLink />
          <ChannelLogo channel={sourceChannel} size={32} />
          <div className={classes.whoText}>
            <Title order={level} size="h4" className={classes.name}>
              <bdi>{name}</bdi>
            </Title>
            <div className={classes.about}>
              {CHANNEL_LABELS[sourceChannel]}
              {[contact.email, contact.phone].map(
                (one) =>
                  one && (
                    <span key={one}>
                      {' · '}
                      <bdi>{one}</bdi>
                    </span>
                  ),
              )}
            </div>
          </div>
          {status !== 'OPEN' && (
            <Badge color={status === 'CLOSED' ? 'gray' : 'yellow'} className={classes.state}>
              {snoozeText(conversation) ?? inbox.status[status]}
            </Badge>
          )}
        </Group>
        <Group gap="xs" wrap="nowrap" className={classes.acts}>
          <AssigneeSelect
            ref={assignee}
            assignedAgentId={conversation.assignedAgentId}
            isDisabled={isReadOnly}
            onAssign={(assignedAgentId) => {
              update.mutate({ assignedAgentId });
              pane.current?.focus({ preventScroll: true });
            }}
          />
          <UnreadToggle readMark={readMark} />
          <ContactPanelButton panel={panel} />
          {status === 'OPEN' && (
            <SnoozeMenu
              isDisabled={isReadOnly}
              onSnooze={(snoozedUntil) => update.mutate({ status: 'SNOOZED', snoozedUntil })}
            />
          )}
          {status === 'OPEN' ? (
            <Button
              variant="default"
              disabled={isReadOnly}
              leftSection={<IconCheck size={16} aria-hidden />}
              onClick={() => setStatus('CLOSED')}
            >
              {inbox.close}
            </Button>
          ) : (
            <Button
              variant="default"
              disabled={isReadOnly}
              leftSection={<IconRotate size={16} aria-hidden />}
              onClick={() => setStatus('OPEN')}
            >
              {inbox.reopen}
            </Button>
          )}
        </Group>
      </header>
      {[update.error, sending.closing.error].map(
        (error, index) =>
          error && (
            <div key={index} className={classes.notice}>
              <ErrorNotice error={error} />
            </div>
          ),
      )}
      <Timeline conversation={conversation} sending={sending} endRef={readMark.endRef} />
      <PresenceLine conversationId={id} />
      <Composer conversation={conversation} sending={sending} />
    </section>
  );
}

function BackLink() {
  const { inbox } = useTexts();
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      className={classes.back}
      aria-label={inbox.back}
      renderRoot={useLinkToList()}
    >
      <IconArrowLeft size={20} aria-hidden />
    </ActionIcon>
  );
}

function useLinkToList() {
  const { slug } = useWorkspace();
  const search = toSearch(useInboxFilter());
  return (props: object) => <Link {...props} to="/w/$slug/inbox" params={{ slug }} search={search} />;
}

/** Moves the focus to an opened conversation, unless the page was loaded with it. */
function useFocusWhenOpened() {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    if (before !== document.body) pane.current?.focus({ preventScroll: true });
  }, []);
  return pane;
}
