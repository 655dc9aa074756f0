// The service's rules. The compiler refuses any other value than the service's own.
import type * as service from '../../api/types';

export const ALL_EVENTS: typeof service.ALL_EVENTS = '*';
/** Limit of an endpoint's rate, in deliveries a second. */
export const MAX_RATE: typeof service.MAX_ENDPOINT_RATE = 1_000;
export const MAX_NAME: typeof service.MAX_ENDPOINT_NAME = 100;
export const MAX_DESCRIPTION: typeof service.MAX_ENDPOINT_DESCRIPTION = 500;
