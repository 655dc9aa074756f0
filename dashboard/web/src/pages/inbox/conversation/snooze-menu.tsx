import { ActionIcon, Text } from '@mantine/core';
import { IconClockPause } from '@tabler/icons-react';
import { MenuButton } from '../../../common/menu-button';
import { useFormats, useTexts } from '../../../i18n/locale';
import { useKeys } from '../use-keys';

const HOURS = 3;
/** Hour at which a day begins. */
const MORNING = 9;
const DAYS_OF_WEEK = 7;

/** Menu that puts a conversation aside until a time, or until its customer writes. S opens it. */
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

/** Returns the ends of a snooze to choose from, by the browser's clock. */
function endsAfter(now: Date) {
  const morning = (days: number) => {
    const end = new Date(now);
    end.setDate(end.getDate() + days);
    end.setHours(MORNING, 0, 0, 0);
    return end;
  };
  // From a Monday, it is the Monday of the next week.
  const toMonday = (DAYS_OF_WEEK + 1 - now.getDay()) % DAYS_OF_WEEK || DAYS_OF_WEEK;
  return {
    hours: new Date(now.getTime() + HOURS * 3_600_000),
    tomorrow: morning(1),
    monday: morning(toMonday),
  };
}
