import { Alert, Anchor, Box, Group, Text } from '@mantine/core';
import type { ComponentProps, ReactElement, ReactNode } from 'react';
import type { OpenAlert } from '../../api/types';
import { useFormats, useLocale } from '../../i18n/locale';
import { ALERT_TEXTS } from './alert-texts';
import { isNews } from './use-open-alerts';

/** Shows an alert: its cause and time, an act that is offered, and a link to the page that mends it. */
export function AlertCard({
  alert,
  name,
  about,
  action,
  link,
  children,
}: {
  alert: OpenAlert;
  /** Name of the subject, if it is known. */
  name?: string;
  /** Text in place of the general advice. */
  about?: string;
  /** Act that is offered beside the link. */
  action?: ReactNode;
  link: (props: Partial<ComponentProps<'a'>>) => ReactElement;
  children?: ReactNode;
}) {
  const texts = ALERT_TEXTS[useLocale()];
  const { title, advice, wayOut } = texts.kinds[alert.kind];
  const formats = useFormats();
  return (
    <Alert
      color={isNews(alert) ? 'green' : 'yellow'}
      title={<span className="breakable">{name ? `${title}: ${name}` : title}</span>}
      px="md"
      py="sm"
      role="status"
      // The ring of a focused button or text is outside of it.
      styles={{ message: { overflow: 'visible' } }}
    >
      <Group justify="space-between" align="end" gap="xs">
        <Box flex="1 1 24rem">
          {about ?? advice}{' '}
          <Text span inherit style={{ whiteSpace: 'nowrap' }}>
            {texts.since(formats.minute(alert.openedAt))}
          </Text>
          {children}
        </Box>
        <Group gap="md">
          {action}
          <Anchor inherit c="inherit" td="underline" renderRoot={link}>
            {wayOut}
          </Anchor>
        </Group>
      </Group>
    </Alert>
  );
}
