import { Fault, makeFault } from '../../common/error-texts';

/** Faults that reveal answers of the operator's name servers about a host. */
const TELLING: Fault['code'][] = [
  'host_unknown',
  'host_without_address',
  'host_servfail',
  'host_timeout',
  'host_unresolved',
  'host_private',
  'host_denied',
];

/**
 * Returns the fault of a host name as an API key may see it: the same fault for all answers of a name server.
 * Otherwise the holder of a key could learn which names exist in the operator's network.
 */
export function concealHost<F extends Pick<Fault, 'code' | 'values'>>(fault: F): F | Fault {
  if (!TELLING.includes(fault.code)) return fault;
  return makeFault('host_not_public', { host: String(fault.values?.['host']) });
}
