import { Checkbox, NativeSelect, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import type { AlertKind, AlertMailChoice } from '../../api/types';
import { useAnnounce } from '../../common/announcer';
import { ErrorNotice } from '../../common/error-notice';
import { Section } from '../../common/section';
import { ALERT_TEXTS } from '../../frame/alerts/alert-texts';
import { useLocale, useTexts } from '../../i18n/locale';
import { ALERT_MAIL_TEXTS } from './alert-mail-texts';

/**
 * Shows of which alerts the person gets mails, for one at a time of the workspaces that the person manages.
 * Shows nothing to other people, and if the service sends no mails.
 */
export function AlertMailsSection() {
  const managed = useSession().workspaces.filter(({ role }) => role !== 'AGENT');
  const [chosenId, setChosenId] = useState(managed[0]?.id);
  const words = ALERT_MAIL_TEXTS[useLocale()];
  const { choice, set, error } = useAlertMails(chosenId);
  if (choice ? !choice.isAvailable : managed.length < 2 && !error) return null;
  return (
    <Section title={words.title} about={words.about}>
      {managed.length > 1 && (
        <NativeSelect
          label={words.workspace}
          value={chosenId}
          onChange={(event) => setChosenId(event.currentTarget.value)}
          data={managed.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      {choice && <Choice choice={choice} onChange={set} />}
      <ErrorNotice error={error} />
    </Section>
  );
}

function Choice({
  choice: { isOn, mutedKinds },
  onChange,
}: {
  choice: AlertMailChoice;
  onChange: (change: Partial<AlertMailChoice>) => void;
}) {
  const locale = useLocale();
  const words = ALERT_MAIL_TEXTS[locale];
  const kinds = Object.keys(ALERT_TEXTS[locale].kinds) as AlertKind[];
  return (
    <>
      <Checkbox
        label={words.isOn}
        checked={isOn}
        onChange={(event) => onChange({ isOn: event.currentTarget.checked })}
      />
      {isOn && (
        <Checkbox.Group
          label={words.kinds}
          value={kinds.filter((kind) => !mutedKinds.includes(kind))}
          onChange={(wanted) => onChange({ mutedKinds: kinds.filter((kind) => !wanted.includes(kind)) })}
        >
          <Stack gap="xs" mt="xs">
            {kinds.map((kind) => (
              <Checkbox key={kind} value={kind} label={ALERT_TEXTS[locale].kinds[kind].title} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </>
  );
}

/** Reads and sets the choice for a workspace. A change is shown before it is stored. */
function useAlertMails(workspaceId: string | undefined) {
  const queries = useQueryClient();
  const announce = useAnnounce();
  const texts = useTexts();
  const path = `/workspaces/${workspaceId}/alert-mails`;
  const queryKey = ['account', 'alert-mails', workspaceId];
  const read = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<AlertMailChoice>(path, signal),
    enabled: workspaceId !== undefined,
  });
  const change = useMutation({
    // One after the other, so that the last choice is the one that is stored.
    scope: { id: path },
    mutationFn: (input: Partial<AlertMailChoice>) => api.patch<AlertMailChoice>(path, input),
    onMutate: (input) =>
      queries.setQueryData<AlertMailChoice>(queryKey, (before) => before && { ...before, ...input }),
    onSuccess: () => announce(texts.common.saved),
    onError: () => queries.invalidateQueries({ queryKey }),
  });
  return { choice: read.data, set: change.mutate, error: read.error ?? change.error };
}
