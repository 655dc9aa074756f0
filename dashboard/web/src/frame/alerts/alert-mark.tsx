import { Badge } from '@mantine/core';
import { useLocale } from '../../i18n/locale';
import { ALERT_TEXTS } from './alert-texts';
import { useOpenAlerts } from './use-open-alerts';

/** Shows in the navigation how many alerts are open. */
export default function AlertMark({ workspaceId }: { workspaceId: string }) {
  const texts = ALERT_TEXTS[useLocale()];
  const { length } = useOpenAlerts(workspaceId);
  if (length === 0) return null;
  return (
    <Badge size="sm" circle={length < 10} color="red.8" variant="filled" title={texts.open(length)}>
      {length}
    </Badge>
  );
}
