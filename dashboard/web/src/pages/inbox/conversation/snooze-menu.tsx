import { ActionIcon, Text } from '@mantine/core';
import { IconClockPause } from '@tabler/icons-react';
import { MenuButton } from '../../../common/menu-button';
import { useFormats, useTexts } from '../../../i18n/locale';
import { useKeys } from '../use-keys';
import { endsAfter } from './snooze-ends';

/** Shows a menu that snoozes a conversation until a time, or until the customer writes (null). */
export function SnoozeMenu({
  isDisabled,
  onSnooze,
}: {
  isDisabled: boolean;
  onSnooze: (until: string | null) => void;
}) {
  const { inbox } = useTexts();
  const formats = useFormats();
  useKeys({ s: () => document.querySelector<HTMLElement>('[data-snooze-button]')?.click() });
  return (
    <MenuButton
      position="bottom-end"
      button={
        <ActionIcon
          size="lg"
          variant="default"
          aria-label={inbox.snooze}
          title={inbox.snooze}
          disabled={isDisabled}
          data-snooze-button
        >
          <IconClockPause size={18} stroke={1.6} aria-hidden />
        </ActionIcon>
      }
    >
      {(menu) => (
        <>
          {Object.entries(endsAfter(new Date())).map(([name, end]) => (
            <menu.Item
              key={name}
              onClick={() => onSnooze(end.toISOString())}
              rightSection={
                <Text size="xs" c="dimmed">
                  {formats.minute(end.getTime())}
                </Text>
              }
            >
              {inbox.snoozeUntil[name as keyof typeof inbox.snoozeUntil]}
            </menu.Item>
          ))}
          <menu.Item onClick={() => onSnooze(null)}>{inbox.snoozeUntil.customer}</menu.Item>
        </>
      )}
    </MenuButton>
  );
}
