/**
 * Exports parts of the REST API for a host application that imports `MessagingModule` of
 * `conversation-messaging-service` and serves HTTP.
 *
 * `configureHttp` gives the host's application the REST API's limits of connections, bodies and times, its
 * request ids, access log, checks of input, and form of errors. `runProcess` starts and stops the process.
 * `readHttpSettings` reads the configuration of both.
 */
import 'reflect-metadata';

export { configureHttp, type HttpOptions } from './http/configure-http';
export type { BodyLimit } from './http/connections/request-bodies';
export { runProcess, type HttpProcess } from './app/run-process';
export { readHttpSettings, type HttpLimits, type HttpSettings } from './config/http-settings';
export type { TrustProxy } from './config/setting-readers';
export { createLogger, NestLogger } from './common/logger';

// Parts for routes of the host application: the origin of a request, idempotent requests, rate limits over
// all processes, and limits of concurrent work in a process. `Public` marks routes for a guard of the
// application, which reads `PUBLIC`. The routes of `HealthApiModule`, `GET /health/live` and `/health/ready`,
// are marked.
export { HealthApiModule } from './operations/health/health.module';
export { sendKept } from './http/connections/kept-bytes';
export { isSafe } from './http/safe-methods';
export { originOf, Public, PUBLIC } from './http/access.decorators';
export { type IdentifiedRequest } from './http/connections/request-id';
export { clientNetworkOf } from './http/connections/client-network';
export { Idempotent, type IdempotentRequest } from './idempotency/idempotent-request';
export { HasOwnBudget, hasOwnBudget } from './http/limits/request-budget';
export { RateLimiter, type RateLimit } from './http/limits/rate-limiter';
export { makeReason, type Reason } from './common/error-texts';
export { WorkBudgets, type WorkKind } from './http/limits/work-budgets';

// Decorators for the classes of the host application's inputs, which `validate` reads.
export { IsNullable, IsOpaque } from './common/validators';

// Work that is repeated at an interval until the process stops.
export { Periodic } from './common/periodic';

// Streams of server-sent events, and groups of streams that receive the same events.
export { EventStreams, type StreamOwner } from './http/streams/event-streams';
export { awaitListening, StreamGroups, type StreamGroup } from './http/streams/stream-groups';
export type { EventStream } from './http/streams/event-stream';
