import { Modal, Text } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { useTexts } from '../i18n/locale';
import { Form } from './form';
import { useEnteredValues } from './use-entered-values';

/** Shows a dialog. Escape and the close button ask before they discard entered values. */
export function OpenDialog({
  title,
  about,
  onClose,
  size,
  closable = true,
  isQuestion = false,
  children,
}: {
  title: string;
  /** Name of the thing that the dialog acts on; shown below the title. */
  about?: string;
  onClose: () => void;
  size?: string;
  /** Whether Escape and a close button close the dialog. False for a secret that is shown only once. */
  closable?: boolean;
  /** Whether the dialog closes without asking, even if the person entered something. */
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
        <>
          <Text fw={650} component="span">
            {title}
          </Text>
          {about !== undefined && (
            <Text size="sm" c="dimmed" component="span" lineClamp={2} className="breakable">
              <bdi>{about}</bdi>
            </Text>
          )}
        </>
      }
      size={size ?? 'md'}
      closeOnClickOutside={false}
      closeOnEscape={closable && !isAsking}
      trapFocus={!isAsking}
      withCloseButton={closable}
      closeButtonProps={{ 'aria-label': texts.common.close }}
    >
      <div onFocusCapture={keep}>{children}</div>
      {isAsking && <DiscardDialog onDiscard={onClose} onClose={() => setAsking(false)} />}
    </Modal>
  );
}

export function DiscardDialog({ onDiscard, onClose }: { onDiscard: () => void; onClose: () => void }) {
  const { common } = useTexts();
  return (
    <OpenDialog title={common.discardTitle} onClose={onClose} isQuestion>
      <Form action={common.discard} isDangerous isPending={false} onSubmit={onDiscard} onCancel={onClose}>
        <Text size="sm">{common.discardText}</Text>
      </Form>
    </OpenDialog>
  );
}

/** Moves the focus back when the dialog closes. Mantine does so only for dialogs that stay mounted. */
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
