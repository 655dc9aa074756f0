import { Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useTexts } from '../i18n/locale';
import { ErrorNotice } from './error-notice';

/** Shows a form with its buttons. `error` is that of the last try. */
export function Form({
  action,
  onSubmit,
  onCancel,
  isPending,
  isDangerous = false,
  isDisabled = false,
  error,
  children,
}: {
  action: string;
  onSubmit: () => void;
  onCancel?: () => void;
  isPending: boolean;
  isDangerous?: boolean;
  isDisabled?: boolean;
  error?: unknown;
  children?: ReactNode;
}) {
  const texts = useTexts();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog is inside its page's tree: without this, a form around it would be submitted as well.
    event.stopPropagation();
    if (!isPending) onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        <ErrorNotice error={error} />
        <Group justify="end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {texts.common.cancel}
            </Button>
          )}
          <Button
            type="submit"
            loading={isPending}
            disabled={isDisabled}
            {...(isDangerous && { color: 'red.7' })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
