import { Text } from '@mantine/core';
import { useLocale } from '../../i18n/locale';
import { ALERT_TEXTS } from './alert-texts';
import { useOpenAlerts } from './use-open-alerts';

/** Shows in the navigation how many alerts are open. */
export default function AlertMark({ workspaceId }: { workspaceId: string }) {
  const texts = ALERT_TEXTS[useLocale()];
  const { length } = useOpenAlerts(workspaceId);
  if (length === 0) return null;
  return (
    <Text
      span
      size="xs"
      fw={700}
      c="white"
      bg="red.9"
      px={7}
      style={{ borderRadius: 9 }}
      title={texts.open(length)}
    >
      {length}
    </Text>
  );
}
