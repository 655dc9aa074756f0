import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { IconDownload, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Contact, ContactErasure, RunningErasure } from '../../api/types';
import { useChange, useRead, useWorkspace } from '../../api/workspace';
import { ConfirmDialog } from '../../common/dialogs';
import { Section } from '../../common/section';
import { useFormats, useTexts } from '../../i18n/locale';
import { typedNameOf, useNameOf } from './contact-names';

const REFRESH_MS = 3_000;

export function ContactRights({ contact }: { contact: Contact }) {
  const { contacts } = useTexts();
  const { id } = useWorkspace();
  const nameOf = useNameOf();
  const [isAsking, setAsking] = useState(false);
  const running = useRead<RunningErasure>(`contacts/${contact.id}/erasure`, {}, { refreshMs: REFRESH_MS })
    .data?.running;
  const erase = useChange(
    (at) => api.post<ContactErasure>(`${at}/contacts/${contact.id}/erasure`),
    contacts.erasureStarted,
  );
  return (
    <Section title={contacts.rights} about={contacts.rightsAbout}>
      <Stack>
        <Group gap="xs">
          <Button
            component="a"
            variant="default"
            href={`/api/workspaces/${id}/contacts/${contact.id}/export`}
            download
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {contacts.export}
          </Button>
          {!contact.erasedAt && (
            <Button
              variant="default"
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setAsking(true)}
            >
              {contacts.erase}
            </Button>
          )}
        </Group>
        {running && <ErasureProgress erasure={running} />}
      </Stack>
      {isAsking && (
        <ConfirmDialog
          title={contacts.askErase}
          about={nameOf(contact)}
          action={contacts.erase}
          name={typedNameOf(contact)}
          isPending={erase.isPending}
          error={erase.error}
          onClose={() => setAsking(false)}
          onConfirm={() => erase.mutate(undefined, { onSuccess: () => setAsking(false) })}
        >
          {contacts.askEraseAdvice}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function ErasureProgress({ erasure: { status, messages } }: { erasure: ContactErasure }) {
  const { contacts } = useTexts();
  const formats = useFormats();
  const isRunning = status === 'running';
  return (
    <div role="status">
      {isRunning && <Progress value={100} animated size="sm" mb={6} aria-label={contacts.erasing} />}
      <Text size="sm">
        {isRunning
          ? contacts.erasedSoFar(formats.number(messages))
          : contacts.settling(formats.number(messages))}
      </Text>
    </div>
  );
}
