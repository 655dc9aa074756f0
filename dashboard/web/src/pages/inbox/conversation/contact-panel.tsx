import { ActionIcon, CloseButton } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { IconUser } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { keyOf } from '../../../common/keys';
import { Dialog, DiscardDialog } from '../../../common/dialogs';
import { lazyPart, usePreload } from '../../../common/lazy-part';
import { useEnteredValues } from '../../../common/use-entered-values';
import { useTexts } from '../../../i18n/locale';
import classes from './contact-panel.module.css';

const ContactDetails = lazyPart(() =>
  import('../../contacts/contact-details').then((module) => module.ContactDetails),
);

/** Width from which on the panel fits beside the list and the conversation. */
const WIDE = '(min-width: 80em)';

/** Opens and closes the customer's panel. On a wide screen, the browser stores whether the panel is open. */
export function useContactPanel() {
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false }) ?? true;
  const [isKeptOpen, setKeptOpen] = useLocalStorage({
    key: 'dashboard-contact-panel',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [isSheetOpen, setSheetOpen] = useState(false);
  const isOpen = isWide ? isKeptOpen : isSheetOpen;
  const setOpen = isWide ? setKeptOpen : setSheetOpen;
  // Whether the person has opened the panel in this conversation, because only then does it get the focus.
  const [isAsked, setAsked] = useState(false);
  const { keep, hasEntered } = useEnteredValues();
  const [isDiscarding, setDiscarding] = useState(false);
  const close = () => (isWide && hasEntered() ? setDiscarding(true) : setOpen(false));
  return {
    isWide,
    isOpen,
    isAsked,
    isDiscarding,
    keep,
    hasEntered,
    close,
    discard: () => {
      // Renders at once, because the closing dialog focuses the panel and the button must get the focus last.
      flushSync(() => {
        setDiscarding(false);
        setOpen(false);
      });
      focusButton();
    },
    stay: () => setDiscarding(false),
    toggle: () => {
      setAsked(!isOpen);
      if (isOpen) close();
      else setOpen(true);
    },
  };
}

function focusButton(): void {
  document.querySelector<HTMLElement>('[data-contact-button]')?.focus();
}

type ContactPanelState = ReturnType<typeof useContactPanel>;

export function ContactPanelButton({ panel }: { panel: ContactPanelState }) {
  const { inbox } = useTexts();
  return (
    <ActionIcon
      size="lg"
      variant="default"
      aria-label={inbox.customer}
      title={inbox.customer}
      aria-expanded={panel.isOpen}
      data-contact-button
      onClick={panel.toggle}
    >
      <IconUser size={18} stroke={1.6} aria-hidden />
    </ActionIcon>
  );
}

export function ContactPanel({
  panel: { isWide, isOpen, isAsked, isDiscarding, keep, hasEntered, close, discard, stay },
  contactId,
  conversationId,
}: {
  panel: ContactPanelState;
  contactId: string;
  conversationId: string;
}) {
  const { inbox } = useTexts();
  const aside = useRef<HTMLElement>(null);
  usePreload(ContactDetails);
  useEffect(() => {
    if (isAsked && isWide && isOpen) aside.current?.focus({ preventScroll: true });
  }, [isAsked, isWide, isOpen]);
  if (!isOpen) return null;
  const details = <ContactDetails key={contactId} contactId={contactId} conversationId={conversationId} />;
  if (!isWide) {
    return (
      <Dialog title={inbox.customer} onClose={close} size="lg">
        {details}
      </Dialog>
    );
  }
  const leave = () => {
    close();
    if (!hasEntered()) focusButton();
  };
  return (
    <aside
      ref={aside}
      tabIndex={-1}
      className={classes.panel}
      aria-label={inbox.customer}
      onFocusCapture={keep}
      onKeyDown={(event) => {
        const { target, currentTarget } = event;
        const isInside = currentTarget.contains(target as Node) && !(target instanceof HTMLInputElement);
        if (keyOf(event) === 'Escape' && isInside) leave();
      }}
    >
      <CloseButton className={classes.close} aria-label={inbox.closeCustomer} onClick={leave} />
      {details}
      {isDiscarding && <DiscardDialog onDiscard={discard} onClose={stay} />}
    </aside>
  );
}
