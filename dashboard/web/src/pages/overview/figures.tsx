import { Text } from '@mantine/core';
import type { FirstPage } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';
import { boundedNumber } from './bounded-number';
import classes from './overview.module.css';

export function Figures({ page }: { page: FirstPage }) {
  const texts = useTexts();
  const formats = useFormats();
  const { openConversations, waitingMessages, lostReplies, managed } = page;
  const figures = [
    { ...texts.overview.open, count: openConversations, isFailure: false },
    { ...texts.overview.waiting, count: waitingMessages, isFailure: false },
    { ...texts.overview.lost, count: lostReplies, isFailure: true },
    ...(managed
      ? [
          { ...texts.overview.pending, count: managed.webhooks.pending, isFailure: false },
          { ...texts.overview.exhausted, count: managed.webhooks.exhausted, isFailure: true },
        ]
      : []),
  ];
  return (
    <dl className={classes.figures}>
      {figures.map(({ name, about, count, isFailure }) => (
        <div key={name} className={classes.figure}>
          <Text component="dt" size="sm" fw={500}>
            {name}
          </Text>
          <dd className={classes.number} data-failing={(isFailure && count > 0) || undefined}>
            {boundedNumber(count, formats.number)}
            <Text size="xs" c="dimmed" component="span">
              {about}
            </Text>
          </dd>
        </div>
      ))}
    </dl>
  );
}
