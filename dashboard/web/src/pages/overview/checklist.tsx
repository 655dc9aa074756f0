import { Button, Progress, Text } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { WorkspaceCounts } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import rowList from '../../common/row-list.module.css';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import classes from './overview.module.css';

export function Checklist({
  counts,
  hasMessage,
  onHide,
}: {
  counts: WorkspaceCounts;
  hasMessage: boolean;
  onHide: () => void;
}) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  const { steps } = texts.overview;
  const all = [
    { ...steps.channel, to: 'channels', isDone: counts.channels > 0 },
    { ...steps.message, to: 'channels', isDone: hasMessage },
    { ...steps.agent, to: 'agents', isDone: counts.agents > 1 },
    { ...steps.key, to: 'api-keys', isDone: counts.apiKeys > 0 },
    { ...steps.endpoint, to: 'webhooks', isDone: counts.webhookEndpoints > 0 },
  ];
  const done = all.filter(({ isDone }) => isDone).length;
  if (done === all.length) return null;
  const next = all.find(({ isDone }) => !isDone);
  return (
    <Section
      title={texts.overview.begin}
      about={texts.overview.done(done, all.length)}
      actions={
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onHide}>
          {texts.overview.hide}
        </Button>
      }
    >
      <Progress
        value={(done / all.length) * 100}
        size="sm"
        aria-label={texts.overview.done(done, all.length)}
      />
      <ol className={rowList.rows}>
        {all.map((step) => (
          <li key={step.name} data-done={step.isDone || undefined}>
            <span className={classes.tick}>
              {step.isDone && <IconCheck size={14} stroke={2.5} aria-label={texts.overview.isDone} />}
            </span>
            <div className={classes.step}>
              <Text size="sm" fw={500}>
                {step.name}
              </Text>
              {!step.isDone && (
                <Text size="sm" c="dimmed">
                  {step.about}
                </Text>
              )}
            </div>
            {!step.isDone && (
              <Button
                component={Link}
                to={`/w/${encodeURIComponent(slug)}/settings/${step.to}`}
                size="compact-sm"
                variant={step === next ? 'filled' : 'default'}
              >
                {step.action}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}
