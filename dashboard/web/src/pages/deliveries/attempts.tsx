import { Card, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { AttemptDetail } from '../../api/types';
import { Fault } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { useFormats, useTexts } from '../../i18n/locale';
import { Exchange } from '../webhooks/exchange';
import classes from './attempts.module.css';
import type { FormerAddress } from './use-former-address';

/** Lists a delivery's attempts, the latest first. Only the latest is unfolded. */
export function Attempts({
  attempts,
  formerAddress,
}: {
  attempts: AttemptDetail[];
  formerAddress: FormerAddress;
}) {
  const texts = useTexts();
  return (
    <Stack gap="xs" component="section" aria-label={texts.deliveries.attempts}>
      <Title order={2} size="h4">
        {texts.deliveries.attempts}
      </Title>
      {attempts.length === 0 ? (
        <Text c="dimmed">{texts.attempts.none}</Text>
      ) : (
        <Card withBorder padding={0}>
          {attempts
            .map((attempt, n) => (
              <Attempt
                key={attempt.at}
                attempt={attempt}
                sentTo={formerAddress(attempt.at)}
                number={n + 1}
                isLatest={n === attempts.length - 1}
              />
            ))
            .reverse()}
        </Card>
      )}
    </Stack>
  );
}

function Attempt({
  attempt,
  sentTo,
  number,
  isLatest,
}: {
  attempt: AttemptDetail;
  sentTo: string | undefined;
  number: number;
  isLatest: boolean;
}) {
  const texts = useTexts();
  const formats = useFormats();
  const { at, statusCode, durationMs, error, errorMessage, fault, phases, response, responseHeaders } =
    attempt;
  const outcome = error === null ? texts.attempts.succeeded : texts.attempts.error[error];
  const message = errorMessage && <Fault detail={{ message: errorMessage, ...fault }} />;
  return (
    <details className={classes.attempt} open={isLatest}>
      <summary className={classes.summary}>
        <IconChevronRight className={classes.chevron} size={14} aria-hidden />
        <Text span inherit c="dimmed">
          <span aria-hidden>{number}</span>
          <VisuallyHidden>{texts.attempts.title(number)}</VisuallyHidden>
        </Text>
        <Moment at={at} isExact />
        <Text span inherit fw={500} c={error === null ? undefined : 'var(--mantine-color-error)'}>
          {statusCode ?? outcome}
        </Text>
        <span>{formats.milliseconds(durationMs)}</span>
        <span className={classes.message}>
          {sentTo && texts.attempts.earlier}
          {sentTo && message && ' · '}
          {message}
        </span>
      </summary>
      <Stack gap="sm" className={classes.details}>
        {sentTo && (
          <Text size="sm" className="breakable">
            {sentTo}
          </Text>
        )}
        {message && (
          <Text size="sm" c="var(--mantine-color-error)" className="breakable">
            {message}
          </Text>
        )}
        <Exchange
          phases={phases}
          totalMs={durationMs}
          response={response}
          responseHeaders={responseHeaders}
        />
      </Stack>
    </details>
  );
}
