import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import type { ChooseNotices, NoticeChoices, Workspace } from '../../api/types';
import { useAnnounce } from '../../common/announcer';
import { ErrorNotice } from '../../common/error-notice';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { useNoticeTexts } from './notice-texts';

const MATTERS = ['MINE', 'NOBODYS', 'ASSIGNMENT'] as const;
const MINUTES = [0, 5, 15, 60, 240] as const;

/** Shows of which conversations the person gets notices, in each workspace. Each change is stored at once. */
export function NoticesSection() {
  const { workspaces } = useSession();
  const texts = useNoticeTexts();
  const open = workspaces.filter(({ isLocked }) => !isLocked);
  const [chosenId, setChosenId] = useState<string>();
  const workspace = open.find(({ id }) => id === chosenId) ?? open[0];
  if (!workspace) return null;
  return (
    <Section title={texts.title} about={texts.about}>
      {open.length > 1 && (
        <NativeSelect
          label={texts.workspace}
          value={workspace.id}
          onChange={(event) => setChosenId(event.currentTarget.value)}
          data={open.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <Choices key={workspace.id} workspace={workspace} />
    </Section>
  );
}

function Choices({ workspace }: { workspace: Pick<Workspace, 'id'> }) {
  const { person } = useSession();
  const texts = useNoticeTexts();
  const { common } = useTexts();
  const announce = useAnnounce();
  const queries = useQueryClient();
  const path = `/workspaces/${workspace.id}/notice-choices`;
  const queryKey = ['account', 'notices', workspace.id];
  const stored = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<NoticeChoices>(path, signal),
  });
  const choose = useMutation({
    mutationFn: (changes: ChooseNotices) => api.patch<NoticeChoices>(path, changes),
    onMutate: () => queries.cancelQueries({ queryKey }),
    onSuccess: (choices) => {
      queries.setQueryData(queryKey, choices);
      announce(common.saved);
    },
  });
  if (!stored.data) return <ErrorNotice error={stored.error} onRetry={() => void stored.refetch()} />;
  // A choice is shown at once, and not only when it is stored.
  const shown = { ...stored.data, ...(choose.isPending && choose.variables) };
  return (
    <Stack>
      {shown.canMail && (
        <Way
          name={texts.byMail(person.email)}
          matters={shown.mailMatters}
          minutes={shown.mailAfterMinutes}
          onMatters={(mailMatters) => choose.mutate({ mailMatters })}
          onMinutes={(mailAfterMinutes) => choose.mutate({ mailAfterMinutes })}
        />
      )}
      {shown.mailRefusedAt && (
        <Alert color="yellow" role="status">
          <Group justify="space-between">
            <Text size="sm">{texts.refused(person.email)}</Text>
            <Button size="xs" variant="default" loading={choose.isPending} onClick={() => choose.mutate({})}>
              {texts.sendAgain}
            </Button>
          </Group>
        </Alert>
      )}
      {shown.canPush && (
        <Way
          name={texts.byPush}
          matters={shown.pushMatters}
          minutes={shown.pushAfterMinutes}
          onMatters={(pushMatters) => choose.mutate({ pushMatters })}
          onMinutes={(pushAfterMinutes) => choose.mutate({ pushAfterMinutes })}
        />
      )}
      {!shown.canMail && !shown.canPush && <Text size="sm">{texts.noWay}</Text>}
      <ErrorNotice error={choose.error} />
    </Stack>
  );
}

type Matters = NoticeChoices['mailMatters'];
type Minutes = NoticeChoices['mailAfterMinutes'];

function Way({
  name,
  matters,
  minutes,
  onMatters,
  onMinutes,
}: {
  name: string;
  matters: Matters;
  minutes: Minutes;
  onMatters: (matters: Matters) => void;
  onMinutes: (minutes: Minutes) => void;
}) {
  const texts = useNoticeTexts();
  return (
    <Group align="start" gap="xl">
      <Checkbox.Group label={name} value={matters} onChange={(values) => onMatters(values)}>
        <Stack gap="xs" mt="xs">
          {MATTERS.map((matter) => (
            <Checkbox key={matter} value={matter} label={texts.matters[matter]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <NativeSelect
        label={texts.after}
        aria-label={`${name}: ${texts.after}`}
        value={minutes}
        onChange={(event) => onMinutes(Number(event.currentTarget.value) as Minutes)}
        data={MINUTES.map((one) => ({ value: String(one), label: texts.minutes[one] }))}
      />
    </Group>
  );
}
