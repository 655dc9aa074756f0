import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client';
import { useTexts } from '../i18n/locale';
import { ErrorNotice, FAULT } from './error-notice';

/** Shows a form. A box shows the error of the last submission, unless the fields show all its faults. */
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
  const { form, unsaid } = useUnsaid(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog's form may be rendered inside another form. Without this, React would pass its event on to the
    // outer form, which would then be submitted as well.
    event.stopPropagation();
    if (!isPending) onSubmit();
  };
  return (
    <form ref={form} onSubmit={submit}>
      <Stack>
        {children}
        <ErrorNotice error={unsaid} />
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

/** Returns the error. If fields show all its faults, returns null and focuses the first of these fields. */
function useUnsaid(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  const [unsaid, setUnsaid] = useState<unknown>();
  useLayoutEffect(() => {
    const details = error instanceof ApiError ? error.details : [];
    const isSaid = ({ field }: { field: string }) =>
      form.current!.querySelector(`[${FAULT}="${CSS.escape(field)}"]`) !== null;
    const areSaid = details.length > 0 && details.every(isSaid);
    setUnsaid(areSaid ? null : error);
    if (areSaid) form.current!.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return { form, unsaid };
}
