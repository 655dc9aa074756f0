import { Badge, Group } from '@mantine/core';
import type { Endpoint } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';
import { useNow } from '../../common/use-now';

export function EndpointState({
  endpoint,
}: {
  endpoint: Pick<
    Endpoint,
    'active' | 'failingSince' | 'lastSuccessAt' | 'previousSecretEndsAt' | 'deactivation'
  >;
}) {
  const texts = useTexts();
  const formats = useFormats();
  const now = useNow();
  const { active, failingSince, lastSuccessAt, previousSecretEndsAt, deactivation } = endpoint;
  return (
    <Group gap={4}>
      {deactivation && (
        <Badge color="red">{texts.webhooks.stopped(formats.past(deactivation.at, now))}</Badge>
      )}
      {!active && !deactivation && <Badge color="gray">{texts.webhooks.inactive}</Badge>}
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
