import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconBell, IconBellOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTexts } from '../../i18n/locale';
import { chooseAlert, mayNotify, useAlertChoices } from './alert-choices';
import { playSound } from './alert-sound';
import classes from './alert-menu.module.css';

/** Menu in which a person chooses what this browser tells of new messages. */
export function AlertMenu() {
  const { inbox } = useTexts();
  const choices = useAlertChoices();
  const [isRefused, setRefused] = useState(false);
  const notifies = choices.notifications && mayNotify();
  const Icon = choices.sound || notifies ? IconBell : IconBellOff;
  const setNotifications = async (isWanted: boolean) => {
    // Only now is the browser asked: who has not chosen it is not bothered.
    if (isWanted && 'Notification' in window) await Notification.requestPermission();
    setRefused(isWanted && !mayNotify());
    chooseAlert({ notifications: isWanted && mayNotify() });
  };
  return (
    <Menu position="bottom-end" closeOnItemClick={false} width={260}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={inbox.alerts.title} title={inbox.alerts.title}>
          <Icon size={18} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{inbox.alerts.about}</Menu.Label>
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
          <Text size="xs" role="alert" className={classes.refused}>
            {inbox.alerts.refused}
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
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
    <Menu.CheckboxItem checked={isChosen} onChange={onChoose}>
      {label}
    </Menu.CheckboxItem>
  );
}
