import { readDelivery } from './delivery.ts';
import { fetchHandler, nodeHandler } from './handlers.ts';
import { verify } from './verify.ts';

/** Functions for those who receive webhooks. */
export const webhooks = { verify, readDelivery, nodeHandler, fetchHandler };
