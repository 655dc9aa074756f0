import { Menu } from '@mantine/core';
import { type ReactNode, type Ref, useImperativeHandle } from 'react';

export interface MenuOptions {
  position: 'bottom-start' | 'bottom-end' | 'top-start';
  width?: number | 'target';
  closeOnItemClick?: boolean;
}

export function OpenMenu({
  id,
  button,
  options,
  onClose,
  children,
}: {
  id: string;
  button: HTMLElement;
  options: MenuOptions;
  onClose: () => void;
  children: (menu: typeof Menu) => ReactNode;
}) {
  return (
    <Menu
      {...options}
      id={id}
      opened
      onChange={onClose}
      returnFocus={false}
      // Gives the first item the focus. By default, Mantine focuses a placeholder that is no item.
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <Anchor element={button} />
      </Menu.Target>
      <Menu.Dropdown mah="70vh" style={{ overflowY: 'auto' }}>
        {children(Menu)}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Makes a Mantine menu or popover use an existing button as its target. Renders nothing. */
export function Anchor({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element]);
  return null;
}
