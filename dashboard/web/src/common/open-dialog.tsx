import { Modal, Text } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { useTexts } from '../i18n/locale';
import { Form } from './form';
import { useEnteredValues } from './use-entered-values';

/** A dialog. It asks before a key or the cross closes a form in which something was entered. */
export function OpenDialog({
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
        <OpenDialog title={texts.common.discardTitle} onClose={() => setAsking(false)} isQuestion>
          <Form
            action={texts.common.discard}
            isDangerous
            isPending={false}
            onSubmit={onClose}
            onCancel={() => setAsking(false)}
          >
            <Text size="sm">{texts.common.discardText}</Text>
          </Form>
        </OpenDialog>
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
