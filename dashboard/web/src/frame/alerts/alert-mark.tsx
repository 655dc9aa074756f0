import { Box, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Workspace } from '../../api/types';
import { useLocale } from '../../i18n/locale';
import { ALERT_TEXTS } from './alert-texts';
import { isNews, useOpenAlerts } from './use-open-alerts';

/** Shows how many alerts ask something of a person, in the navigation or as a link to the overview. */
export default function AlertMark({
  workspace: { id, slug },
  isLink = false,
}: {
  workspace: Workspace;
  isLink?: boolean;
}) {
  const texts = ALERT_TEXTS[useLocale()];
  const { length } = useOpenAlerts(id).filter((alert) => !isNews(alert));
  if (length === 0) return null;
  const mark = (
    <Text
      span
      size="xs"
      fw={700}
      c="white"
      bg="red.8"
      px={7}
      style={{ borderRadius: 9 }}
      role="img"
      aria-label={texts.open(length)}
      title={texts.open(length)}
    >
      {length}
    </Text>
  );
  if (!isLink) return mark;
  return (
    <Box
      ms="auto"
      p={8}
      renderRoot={(props) => <Link {...props} to="/w/$slug/settings/overview" params={{ slug }} />}
    >
      {mark}
    </Box>
  );
}
