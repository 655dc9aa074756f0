import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useLayoutEffect, useState } from 'react';
import { useTexts } from '../i18n/locale';
import { ErrorNotice } from './error-notice';
import { useEnteredValues } from './use-entered-values';

/** A dialog. It asks before a key or the cross closes a form in which something was entered. */
export function Dialog({
  title,
  onClose,
  size,
  closable = true,
  isQuestion = false,
  children,
}: {
  title: string;
  onClose: () => void;
  size?: string;
  /** False for a dialog with something that is shown once: a stray key or click must not close it. */
  closable?: boolean;
  /** True where nothing that was entered would be missed. */
  isQuestion?: boolean;
  children: ReactNode;
}) {
  const texts = useTexts();
  const [isAsking, setAsking] = useState(false);
  const { keep, hasEntered } = useEnteredValues();
  useFocusReturn();
  return (
    <Modal
      opened
      onClose={() => (!isQuestion && hasEntered() ? setAsking(true) : onClose())}
      title={
        <Text fw={650} component="span">
          {title}
        </Text>
      }
      size={size ?? 'md'}
      closeOnClickOutside={false}
      closeOnEscape={closable && !isAsking}
      trapFocus={!isAsking}
      withCloseButton={closable}
      closeButtonProps={{ 'aria-label': texts.common.close }}
    >
      <div onFocusCapture={keep}>{children}</div>
      {isAsking && (
        <ConfirmDialog
          title={texts.common.discardTitle}
          action={texts.common.discard}
          isPending={false}
          error={null}
          onConfirm={onClose}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">{texts.common.discardText}</Text>
        </ConfirmDialog>
      )}
    </Modal>
  );
}

/**
 * Returns the focus to its former place when the dialog closes. Mantine does so only for dialogs that stay
 * mounted.
 */
function useFocusReturn(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const next = isThere ? before : document.getElementById('content');
      next?.focus({ preventScroll: true });
    };
  }, []);
}

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

/** Asks before an act that can't be undone. If `name` is given, the person must type it. */
export function ConfirmDialog({
  title,
  action,
  name,
  isPending,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  action: string;
  name?: string;
  isPending: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const [typed, setTyped] = useState('');
  const texts = useTexts();
  const isDisabled = name !== undefined && typed.trim() !== name;
  return (
    <Dialog title={title} onClose={onClose} isQuestion>
      <Form
        action={action}
        isDangerous
        isDisabled={isDisabled}
        isPending={isPending}
        error={error}
        onSubmit={onConfirm}
        onCancel={onClose}
      >
        <div>{children}</div>
        {name !== undefined && (
          <TextInput
            label={texts.common.typeToConfirm(name)}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
      </Form>
    </Dialog>
  );
}
