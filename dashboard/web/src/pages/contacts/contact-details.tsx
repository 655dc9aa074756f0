import { Alert, Badge, Button, Skeleton, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconPencil, IconRosetteDiscountCheck } from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import type { Contact } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS, ChannelLogo } from '../../common/channel-logo';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { useFormats, useTexts } from '../../i18n/locale';
import { ContactConversations } from './contact-conversations';
import { ContactForm } from './contact-form';
import { textOf, useNameOf } from './contact-names';
import classes from './contacts.module.css';
import { useContact, useContactConversations } from './use-contact';

/** Prefix of the ids of the widget's logged-in visitors. The workspace's own server signs such ids. */
const SIGNED = 'user:';

export function ContactDetails({
  contactId,
  conversationId,
}: {
  contactId: string;
  /** Conversation beside which the contact is shown. The contact's list of conversations marks it. */
  conversationId?: string;
}) {
  const { common } = useTexts();
  const { data: contact, error, refetch } = useContact(contactId);
  if (contact) return <Loaded contact={contact} conversationId={conversationId} />;
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return (
    <Stack role="status" aria-busy="true" aria-label={common.loading}>
      <Skeleton height={28} width="60%" />
      <Skeleton height={80} />
      <Skeleton height={60} />
    </Stack>
  );
}

function Loaded({ contact, conversationId }: { contact: Contact; conversationId: string | undefined }) {
  const { contacts } = useTexts();
  const formats = useFormats();
  const nameOf = useNameOf();
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const { isSuspended, isTrialExpired } = useWorkspace();
  const { erasedAt, verified } = contact;
  const end = () => {
    setEditing(false);
    // Waits, because the edit button is rendered only after the form is removed.
    setTimeout(() => edit.current?.focus());
  };
  return (
    <Stack gap="lg" className={classes.details}>
      <Title order={2} size="h3">
        <bdi className={classes.heading}>{erasedAt ? contacts.erasedName : nameOf(contact)}</bdi>
      </Title>
      {verified.includes('name') && (
        <div className={classes.belowHeading}>
          <Verified />
        </div>
      )}
      {erasedAt && (
        <Alert color="gray" title={contacts.erasedAt(formats.moment(erasedAt))}>
          {contacts.erasedAdvice}
        </Alert>
      )}
      {isEditing && !erasedAt ? (
        <ContactForm contact={contact} onDone={end} />
      ) : (
        <Stack gap="sm">
          <Fields contact={contact} />
          {!erasedAt && (
            <Button
              ref={edit}
              size="xs"
              variant="default"
              className={classes.edit}
              disabled={isSuspended || isTrialExpired}
              leftSection={<IconPencil size={14} aria-hidden />}
              onClick={() => setEditing(true)}
            >
              {contacts.edit}
            </Button>
          )}
        </Stack>
      )}
      <Identities contact={contact} />
      <Seen contact={contact} />
      <Part title={contacts.conversations}>
        <ContactConversations contactId={contact.id} openId={conversationId} />
      </Part>
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={3} size="h6" mb={6}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function Fields({ contact }: { contact: Contact }) {
  const { contacts } = useTexts();
  const { verified, attributes } = contact;
  return (
    <dl className={classes.fields}>
      {(['email', 'phone'] as const).map((field) => (
        <div key={field}>
          <dt>{contacts.field[field]}</dt>
          <dd>
            {contact[field] ? (
              <bdi>{contact[field]}</bdi>
            ) : (
              <Text span inherit c="dimmed">
                {contacts.unknown}
              </Text>
            )}
            {field === 'email' && verified.includes(field) && <Verified />}
          </dd>
        </div>
      ))}
      {Object.entries(attributes).map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <bdi>{textOf(value)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Verified() {
  const { contacts } = useTexts();
  return (
    <Tooltip
      label={contacts.verifiedAdvice}
      multiline
      w={260}
      events={{ hover: true, focus: true, touch: true }}
    >
      <span tabIndex={0} className={classes.verified}>
        <IconRosetteDiscountCheck size={16} stroke={1.6} aria-hidden />
        {contacts.verified}
      </span>
    </Tooltip>
  );
}

function Identities({ contact: { identities } }: { contact: Contact }) {
  const { contacts } = useTexts();
  return (
    <Part title={contacts.identities}>
      {identities.length === 0 && (
        <Text size="sm" c="dimmed">
          {contacts.noIdentity}
        </Text>
      )}
      <ul className={classes.list}>
        {identities.map(({ channel, externalId }) => (
          <li key={channel + externalId} className={classes.identity}>
            <ChannelLogo channel={channel} size={24} />
            <div className={classes.identityText}>
              <Text size="sm">{CHANNEL_LABELS[channel]}</Text>
              <bdi className={classes.id}>{externalId}</bdi>
            </div>
            <Badge variant="default">
              {channel !== 'WIDGET'
                ? contacts.byProvider
                : externalId.startsWith(SIGNED)
                  ? contacts.signed
                  : contacts.anonymous}
            </Badge>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Seen({ contact: { id, createdAt } }: { contact: Contact }) {
  const { contacts } = useTexts();
  const newest = useContactConversations(id).data?.pages[0]?.data ?? [];
  // Skips conversations without a message, because only a message counts as activity.
  const latest = newest.find(({ lastMessageAt }) => lastMessageAt !== null);
  return (
    <dl className={classes.fields}>
      <div>
        <dt>{contacts.firstSeen}</dt>
        <dd>
          <Moment at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>{contacts.lastActivity}</dt>
        <dd>
          <Moment at={latest?.lastMessageAt ?? null} />
        </dd>
      </div>
    </dl>
  );
}
