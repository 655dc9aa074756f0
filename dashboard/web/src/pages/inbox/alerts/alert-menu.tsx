import { ActionIcon } from '@mantine/core';
import { IconBell, IconBellOff } from '@tabler/icons-react';
import { lazyPart, usePreload } from '../../../common/lazy-part';
import { useOpening } from '../../../common/menu-button';
import { useTexts } from '../../../i18n/locale';
import { mayNotify, useAlertChoices } from './alert-choices';

const AlertPopover = lazyPart(() => import('./alert-popover').then((module) => module.AlertPopover));

export function AlertMenu() {
  const { inbox } = useTexts();
  const choices = useAlertChoices();
  const { id, opened, close, buttonProps } = useOpening('dialog');
  usePreload(AlertPopover);
  const Icon = choices.sound || (choices.notifications && mayNotify()) ? IconBell : IconBellOff;
  return (
    <>
      <ActionIcon
        {...buttonProps}
        variant="subtle"
        color="gray"
        aria-label={inbox.alerts.title}
        title={inbox.alerts.title}
      >
        <Icon size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
      {opened && <AlertPopover id={id} button={opened} onClose={close} />}
    </>
  );
}
