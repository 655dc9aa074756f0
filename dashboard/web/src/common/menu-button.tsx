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

/** Opens and closes the menu or dialog of a button. The focus returns to the button. */
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
    /** The button while it is open. */
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

/**
 * A button that opens a menu. While it is closed there is nothing but the button; the menu's code is loaded
 * while the page rests. The focus goes into the menu, and back to the button.
 */
export function MenuButton({
  button,
  children,
  ...options
}: MenuOptions & {
  /** Button of Mantine's, with its name. */
  button: ReactElement<ComponentPropsWithRef<'button'>>;
  /** Makes the menu's items of Mantine's parts of a menu. */
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
