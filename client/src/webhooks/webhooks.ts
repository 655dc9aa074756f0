import { readDelivery } from './delivery.ts';
import { fetchHandler, nodeHandler } from './handlers.ts';
import { verify } from './verify.ts';

/** Functions for receivers of webhooks. */
export const webhooks = { verify, readDelivery, nodeHandler, fetchHandler };
