// The service's rules. The compiler refuses any other value than the service's own.
import type { AllEvents, MaxEndpointRate } from '../../api/types';

export const ALL_EVENTS: AllEvents = '*';
/** Limit of an endpoint's rate, in deliveries a second. */
export const MAX_RATE: MaxEndpointRate = 1_000;
