/** Statements of the service that do not go to one shard of Citus, by the method that runs them. */
export const UNROUTED: Record<string, { asks: 'all shards' | 'coordinator'; because: string }> = {};
