import { Badge, Group } from '@mantine/core';
import { useFormats, useTexts } from '../../i18n/locale';
import { useNow } from '../../common/use-now';

/** Shows whether an endpoint is sent to, and accepts what it is sent. */
export function EndpointState({
  endpoint,
}: {
  endpoint: {
    active: boolean;
    failingSince: string | null;
    lastSuccessAt: string | null;
    previousSecretEndsAt: string | null;
  };
}) {
  const texts = useTexts();
  const formats = useFormats();
  const now = useNow();
  const { active, failingSince, lastSuccessAt, previousSecretEndsAt } = endpoint;
  return (
    <Group gap={4}>
      {!active && <Badge color="gray">{texts.webhooks.inactive}</Badge>}
      {active && failingSince && (
        <Badge color="red">{texts.webhooks.failingSince(formats.past(failingSince, now))}</Badge>
      )}
      {active && !failingSince && lastSuccessAt && <Badge color="green">{texts.webhooks.healthy}</Badge>}
      {active && !failingSince && !lastSuccessAt && <Badge color="blue">{texts.webhooks.unused}</Badge>}
      {previousSecretEndsAt && (
        <Badge color="yellow">{texts.webhooks.rolling(formats.coming(previousSecretEndsAt, now))}</Badge>
      )}
    </Group>
  );
}
