import { Anchor, Button, EmptyState, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ContactSummary, Page } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { ChannelLogo, CHANNEL_LABELS } from '../../common/channel-logo';
import { type Column, DataTable } from '../../common/data-table';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { Pager } from '../../common/pager';
import { useTexts } from '../../i18n/locale';
import { useNameOf } from './contact-names';
import classes from './contacts.module.css';
import { CreateContactDialog } from './create-contact-dialog';

const route = getRouteApi('/inside/w/$slug/contacts');
const TYPING_MS = 300;
/** Longest text, in characters, that the server searches for. */
const MAX_SEARCH = 200;
const REFRESH_MS = 30_000;

export function ContactsPage() {
  const { contacts } = useTexts();
  const { isSuspended, isTrialExpired } = useWorkspace();
  const { q, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(q ?? '');
  const [isCreating, setCreating] = useState(false);
  const found = useRead<Page<ContactSummary>>(
    'contacts',
    { q, cursor },
    { refreshMs: q ? false : REFRESH_MS },
  );
  const search = (text: string) => void navigate({ search: { q: text.trim() || undefined }, replace: true });
  const searchSoon = useDebouncedCallback(search, TYPING_MS);
  const create = (
    <Button onClick={() => setCreating(true)} disabled={isSuspended || isTrialExpired}>
      {contacts.create}
    </Button>
  );
  return (
    <PageLayout title={contacts.title} about={contacts.about} actions={create}>
      <search>
        <TextInput
          type="search"
          aria-label={contacts.search}
          placeholder={contacts.search}
          leftSection={<IconSearch size={16} aria-hidden />}
          maxLength={MAX_SEARCH}
          dir="auto"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            searchSoon(value);
          }}
        />
      </search>
      <DataTable
        name={contacts.title}
        query={found}
        columns={useColumns()}
        rowKey={({ id }) => id}
        empty={
          q ? (
            <EmptyState title={contacts.noneFound} description={contacts.noneFoundAdvice} />
          ) : (
            <EmptyState title={contacts.none} description={contacts.noneAdvice} />
          )
        }
      />
      <Pager
        key={q}
        cursor={cursor}
        nextCursor={found.data?.nextCursor}
        onMove={(to) => void navigate({ search: { q, cursor: to } })}
      />
      {isCreating && <CreateContactDialog onClose={() => setCreating(false)} />}
    </PageLayout>
  );
}

function useColumns(): Column<ContactSummary>[] {
  const { contacts } = useTexts();
  const { slug } = useWorkspace();
  const nameOf = useNameOf();
  return [
    {
      header: contacts.field.name,
      cell: (contact) => (
        <Anchor
          fw={500}
          inherit
          className={classes.name}
          renderRoot={(props) => (
            <Link {...props} to="/w/$slug/contacts/$contactId" params={{ slug, contactId: contact.id }} />
          )}
        >
          <bdi>{nameOf(contact)}</bdi>
        </Anchor>
      ),
    },
    { header: contacts.field.email, cell: ({ email }) => <bdi>{email ?? '–'}</bdi> },
    { header: contacts.field.phone, cell: ({ phone }) => <bdi>{phone ?? '–'}</bdi> },
    {
      header: contacts.channels,
      cell: ({ identities }) => (
        <Group gap={4}>
          {identities.length === 0 && '–'}
          {[...new Set(identities.map(({ channel }) => channel))].map((channel) => (
            <span
              key={channel}
              role="img"
              aria-label={CHANNEL_LABELS[channel]}
              title={CHANNEL_LABELS[channel]}
            >
              <ChannelLogo channel={channel} size={24} />
            </span>
          ))}
        </Group>
      ),
    },
    { header: contacts.firstSeen, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  ];
}
