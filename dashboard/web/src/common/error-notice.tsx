import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { ApiError } from '../api/client';
import { useTexts } from '../i18n/locale';
import type { Texts } from '../i18n/texts-en';

/** Shows what went wrong, what to do about it, and the request's id for the support. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const texts = useTexts();
  if (!error) return null;
  const { title, advice, details, requestId } = explain(error, texts);
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap="xs" align="start">
        {details.length > 1 && (
          <List size="sm">
            {details.map(({ field, message }) => (
              <List.Item key={field + message}>
                {field} {message}
              </List.Item>
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

function explain(error: unknown, texts: Texts) {
  if (!(error instanceof ApiError)) {
    return { title: texts.errors.page, advice: texts.errors.pageAdvice, details: [], requestId: null };
  }
  const { code, message, requestId, details, retryAfterSeconds } = error;
  const known: Record<string, { title?: string; advice: string } | undefined> = texts.errors.byCode;
  const text = known[code] ?? { advice: texts.errors.byCode.INTERNAL.advice };
  const advice =
    code === 'RATE_LIMITED' && retryAfterSeconds !== null
      ? texts.errors.waitSeconds(retryAfterSeconds)
      : text.advice;
  return { title: text.title ?? message, advice, details, requestId };
}

/** Returns the fault of one field of a form, as the service describes it. */
export function faultOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.details.find((detail) => detail.field === field || detail.field.startsWith(`${field}.`))
    ?.message;
}
