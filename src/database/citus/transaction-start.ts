/**
 * Value of a parameter of type `timestamptz`: the time at which the transaction began, to the microsecond.
 * The server that the service is connected to reads it when it takes the parameter, at no round trip. `now()`
 * is the same time on one server; on several nodes, each that reads rows has a `now()` of its own, later than
 * that of what the same statement writes. What compares times and writes them takes this value instead.
 */
export const TRANSACTION_START = 'now';
