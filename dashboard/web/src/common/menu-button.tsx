import type { Menu } from '@mantine/core';
import {
  cloneElement,
  type ComponentPropsWithRef,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { lazyPart, usePreload } from './lazy-part';
import type { MenuOptions } from './open-menu';

const OpenMenu = lazyPart(() => import('./open-menu').then((module) => module.OpenMenu));

/** Returns the state and props of a button that opens a menu or dialog. `close` focuses the button. */
export function useOpening(popup: 'menu' | 'dialog') {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  usePreload(OpenMenu);
  const close = () => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  return {
    id,
    /** The button while its menu or dialog is open; otherwise null. */
    opened: isOpen ? button.current : null,
    close,
    buttonProps: {
      id,
      ref: button,
      'aria-haspopup': popup,
      'aria-expanded': isOpen,
      'aria-controls': isOpen ? `${id}-dropdown` : undefined,
      onClick: () => (isOpen ? close() : setOpen(true)),
    },
  };
}

/** Shows a button that opens a menu. Loads the menu's code while the browser is idle. */
export function MenuButton({
  button,
  children,
  ...options
}: MenuOptions & {
  button: ReactElement<ComponentPropsWithRef<'button'>>;
  children: (menu: typeof Menu) => ReactNode;
}) {
  const { id, opened, close, buttonProps } = useOpening('menu');
  return (
    <>
      {cloneElement(button, buttonProps)}
      {opened && (
        <OpenMenu id={id} button={opened} options={options} onClose={close}>
          {children}
        </OpenMenu>
      )}
    </>
  );
}
