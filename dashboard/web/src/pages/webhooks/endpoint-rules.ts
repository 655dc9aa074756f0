// Rules of the server. The types make the compiler refuse any other values.
import type * as service from '../../api/types';

export const ALL_EVENTS: typeof service.ALL_EVENTS = '*';
/** Highest rate that an endpoint may set, in deliveries per second. */
export const MAX_RATE: typeof service.MAX_ENDPOINT_RATE = 1_000;
export const MAX_NAME: typeof service.MAX_ENDPOINT_NAME = 100;
export const MAX_DESCRIPTION: typeof service.MAX_ENDPOINT_DESCRIPTION = 500;
