import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client';
import type { ErrorDetail } from '../api/types';
import { type ErrorWriter, faultText, fieldText, reasonText } from '../i18n/error-texts';
import { useFormats, useTexts } from '../i18n/locale';
import type { Texts } from '../i18n/texts-en';

export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const texts = useTexts();
  const writer = useErrorWriter();
  if (!error) return null;
  const { title, advice, details, requestId } = explain(error, texts, writer);
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap="xs" align="start">
        {details.length > 1 && (
          <List size="sm">
            {details.map((detail) => (
              <List.Item key={detail.field + detail.message}>{fieldText(detail, writer)}</List.Item>
            ))}
          </List>
        )}
        <Text size="sm">{advice}</Text>
        {requestId && (
          <Text size="xs">
            {texts.errors.requestId} <Code>{requestId}</Code>
          </Text>
        )}
        {onRetry && (
          <Group>
            <Button size="xs" variant="default" onClick={onRetry}>
              {texts.common.tryAgain}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

function explain(error: unknown, texts: Texts, writer: ErrorWriter) {
  if (!(error instanceof ApiError)) {
    return { title: texts.errors.page, advice: texts.errors.pageAdvice, details: [], requestId: null };
  }
  const { code, requestId, details, retryAfterSeconds } = error;
  const known: Record<string, { title?: string; advice: string } | undefined> = texts.errors.byCode;
  const text = known[code] ?? { advice: texts.errors.byCode.INTERNAL.advice };
  const advice =
    code === 'RATE_LIMITED' && retryAfterSeconds !== null
      ? texts.errors.waitSeconds(retryAfterSeconds)
      : text.advice;
  return { title: titleOf(error, texts, writer) ?? text.title ?? error.message, advice, details, requestId };
}

/** Returns a title about the faulty fields or the reason for the refusal; undefined if none is known. */
function titleOf({ details, reason }: ApiError, texts: Texts, writer: ErrorWriter): string | undefined {
  const [first, ...others] = details;
  if (first === undefined) return reasonText(reason, writer);
  return others.length > 0 ? texts.errors.severalFaults : fieldText(first, writer);
}

/** Returns the text of a form field's fault; undefined if the field has none. */
export function faultOf(error: unknown, field: string): ReactNode {
  if (!(error instanceof ApiError)) return undefined;
  const detail = error.details.find((one) => one.field === field || one.field.startsWith(`${field}.`));
  return detail && <Fault detail={detail} />;
}

/** Attribute of an element that shows a field's fault, by which `Form` knows that the fault is shown. */
export const FAULT = 'data-fault';

export function Fault({ detail }: { detail: Omit<ErrorDetail, 'field'> & { field?: string } }) {
  const writer = useErrorWriter();
  return <span {...{ [FAULT]: detail.field }}>{faultText(detail, writer)}</span>;
}

export function Reason({ error }: { error: Parameters<typeof reasonText>[0] & { message: string } }) {
  return reasonText(error, useErrorWriter()) ?? error.message;
}

function useErrorWriter(): ErrorWriter {
  return { texts: useTexts().errors.translated, moment: useFormats().moment };
}
