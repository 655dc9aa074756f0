/**
 * Parts of the REST API for a host that serves HTTP beside `MessagingModule` of
 * `conversation-messaging-service`.
 *
 * `configureHttp` gives the host's application the same edge: connections, bodies and times within limits,
 * request ids, access log, checked input, errors in one form. `runProcess` starts and stops the process, and
 * `readHttpSettings` reads the configuration of both.
 */
import 'reflect-metadata';

export { configureHttp, type HttpOptions } from './http/configure-http';
export type { BodyLimit } from './http/connections/request-bodies';
export { runProcess, type HttpProcess } from './app/run-process';
export { readHttpSettings, type HttpLimits, type HttpSettings } from './config/http-settings';
export type { TrustProxy } from './config/setting-readers';
export { createLogger, NestLogger } from './common/logger';

// Parts for the host's routes: who asks, calls that may come twice, calls counted over all processes, and a
// process's connections shared out. `Public` is for a guard of the host's own, which reads `PUBLIC`; the
// routes of `HealthApiModule`, `GET /health/live` and `/health/ready`, have it.
export { HealthApiModule } from './operations/health/health.module';
export { sendKept } from './http/connections/kept-bytes';
export { isSafe } from './http/safe-methods';
export { originOf, Public, PUBLIC } from './http/access.decorators';
export { type IdentifiedRequest } from './http/connections/request-id';
export { clientNetworkOf } from './http/connections/client-network';
export { Idempotent, type IdempotentRequest } from './idempotency/idempotent-request';
export { HasOwnBudget, hasOwnBudget } from './http/limits/request-budget.interceptor';
export { RateLimiter, type RateLimit } from './http/limits/rate-limiter';
export { makeReason, type Reason } from './common/error-texts';
export { WorkBudgets, type WorkKind } from './http/limits/work-budgets';

// Parts for the classes of the host's inputs, which `validate` reads.
export { IsNullable, IsOpaque } from './common/validators';

// Work that is repeated until the process stops.
export { Periodic } from './common/periodic';

// Streams of server-sent events, and groups of the streams that get the same events.
export { EventStreams, type StreamOwner } from './http/streams/event-streams';
export { awaitListening, StreamGroups, type StreamGroup } from './http/streams/stream-groups';
export type { EventStream } from './http/streams/event-stream';
