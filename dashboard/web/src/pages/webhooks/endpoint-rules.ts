// The service's rules. The compiler refuses any other value than the service's own.
import type { AllEvents, MaxEndpointDescription, MaxEndpointName, MaxEndpointRate } from '../../api/types';

export const ALL_EVENTS: AllEvents = '*';
/** Limit of an endpoint's rate, in deliveries a second. */
export const MAX_RATE: MaxEndpointRate = 1_000;
export const MAX_NAME: MaxEndpointName = 100;
export const MAX_DESCRIPTION: MaxEndpointDescription = 500;
