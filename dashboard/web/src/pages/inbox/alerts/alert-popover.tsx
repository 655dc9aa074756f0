import { Checkbox, Popover, Text } from '@mantine/core';
import { useId, useState } from 'react';
import { Anchor } from '../../../common/open-menu';
import { useTexts } from '../../../i18n/locale';
import { chooseAlert, mayNotify, useAlertChoices } from './alert-choices';
import classes from './alert-menu.module.css';
import { playSound } from './alert-sound';

export function AlertPopover({
  id,
  button,
  onClose,
}: {
  id: string;
  button: HTMLElement;
  onClose: () => void;
}) {
  const { inbox } = useTexts();
  const choices = useAlertChoices();
  const aboutId = useId();
  const [isRefused, setRefused] = useState(false);
  const notifies = choices.notifications && mayNotify();
  const setNotifications = async (isWanted: boolean) => {
    // The browser asks for its permission only here, after the person has chosen notifications.
    if (isWanted && 'Notification' in window) await Notification.requestPermission();
    setRefused(isWanted && !mayNotify());
    chooseAlert({ notifications: isWanted && mayNotify() });
  };
  return (
    <Popover id={id} opened onChange={onClose} position="bottom-end" width={310} trapFocus>
      <Popover.Target>
        <Anchor element={button} />
      </Popover.Target>
      <Popover.Dropdown>
        <div role="group" aria-labelledby={aboutId} className={classes.choices}>
          <Text id={aboutId} size="sm" fw={500}>
            {inbox.alerts.about}
          </Text>
          <Choice
            label={inbox.alerts.sound}
            isChosen={choices.sound}
            onChoose={(sound) => {
              chooseAlert({ sound });
              if (sound) void playSound();
            }}
          />
          <Choice
            label={inbox.alerts.notifications}
            isChosen={notifies}
            onChoose={(isWanted) => void setNotifications(isWanted)}
          />
          {notifies && (
            <Choice
              label={inbox.alerts.preview}
              isChosen={choices.preview}
              onChoose={(preview) => chooseAlert({ preview })}
            />
          )}
          {isRefused && (
            <Text size="xs" role="alert">
              {inbox.alerts.refused}
            </Text>
          )}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function Choice({
  label,
  isChosen,
  onChoose,
}: {
  label: string;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}) {
  return (
    <Checkbox
      label={label}
      checked={isChosen}
      onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
    />
  );
}
