import { TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTexts } from '../i18n/locale';
import { Form } from './form';
import { lazyPart } from './lazy-part';

/** Shows a dialog. Its code is loaded separately from the pages, because few visits open a dialog. */
export const Dialog = lazyPart(() => import('./open-dialog').then((module) => module.OpenDialog));

export const DiscardDialog = lazyPart(() => import('./open-dialog').then((module) => module.DiscardDialog));

/** Asks the person to confirm an act that can't be undone. If `name` is given, they must type it first. */
export function ConfirmDialog({
  title,
  about,
  action,
  name,
  isReady = true,
  isPending,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  about?: string;
  action: string;
  name?: string;
  /** Whether the act may be confirmed; false while the person must choose something in `children`. */
  isReady?: boolean;
  isPending: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const [typed, setTyped] = useState('');
  const texts = useTexts();
  const isDisabled = !isReady || (name !== undefined && typed.trim() !== name);
  return (
    <Dialog title={title} about={about} onClose={onClose} isQuestion>
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
