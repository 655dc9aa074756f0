import { Text } from '@mantine/core';
import type { AutomaticRecovery, Endpoint } from '../../api/types';
import { useLocale } from '../../i18n/locale';
import { Moment } from '../moment';
import { AUTOMATIC_TEXTS } from './automatic-texts';

/** Shows the present step of an endpoint's automatic recovery, and when the endpoint is tried next. */
export function AutomaticOutlook({
  endpoint,
  recovery,
}: {
  endpoint: Endpoint;
  /** Undefined while it is read. */
  recovery: AutomaticRecovery['data'] | undefined;
}) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  if (!recovery) return recovery === null ? automatic.healthy : automatic.turnedOn;
  const { state, stopReason, probes, nextProbeAt } = recovery;
  return (
    <>
      {stopReason ? automatic.stopped[stopReason] : automatic.state[endpoint.active ? state : 'inactive']}
      {nextProbeAt && (
        <>
          {' '}
          <Text span inherit>
            {automatic.nextProbe(probes)} <Moment at={nextProbeAt} mayBeAhead isExact />.
          </Text>
        </>
      )}
    </>
  );
}
