import { api } from '../../api/client';
import type { AutomaticRecovery, Endpoint } from '../../api/types';
import { useChange, useRead } from '../../api/workspace';
import { useLocale } from '../../i18n/locale';
import { AUTOMATIC_TEXTS } from './automatic-texts';

/**
 * Reads the automatic recovery of an endpoint, if it is turned on. Offers to turn it on for an endpoint that
 * fails, or that was switched off because it failed for days. One that answered 410 is never tried.
 * @param refreshMs milliseconds between two reads
 */
export function useAutomatic(endpoint: Endpoint, refreshMs: number) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const { id, automaticRecovery: isOn, active, failingSince, deactivation } = endpoint;
  const path = `webhook-endpoints/${id}/automatic-recovery`;
  const read = useRead<AutomaticRecovery>(path, {}, { refreshMs, isEnabled: isOn });
  const turnOn = useChange(
    (at) => api.patch(`${at}/webhook-endpoints/${id}`, { automaticRecovery: true }),
    automatic.turnedOn,
  );
  const cancel = useChange((at) => api.delete(`${at}/${path}`), automatic.cancelled);
  return {
    isOffered: !isOn && (active ? failingSince !== null : deactivation?.reason === 'failing'),
    /** The recovery; null if nothing is missing, undefined while it is read or turned off. */
    recovery: isOn ? read.data?.data : undefined,
    turnOn,
    cancel,
  };
}
