/**
 * What a host that serves HTTP beside `MessagingModule` of `conversation-messaging-service` shares with the REST API:
 * bodies checked, errors answered, requests named, counted and logged in one way.
 */
import 'reflect-metadata';

export { RequestPipe } from './http/request.pipe';
export { ErrorFilter } from './http/error.filter';
export { requestId, type IdentifiedRequest } from './http/request-id';
export { originOf } from './http/access.decorators';
export { accessLog } from './http/access-log';
export { createLogger, NestLogger } from './common/logger';
export { noticeUntrustedProxy } from './http/untrusted-proxy';
export { clientNetworkOf } from './http/client-network';
export { trustProxyOf } from './config/environment-values';

// Calls counted over all processes, and a process's connections shared out.
export { RateLimiter, type RateLimit } from './rate-limit/rate-limiter';
export { WorkBudgets, type WorkKind } from './rate-limit/work-budgets';

// A host that answers probes imports `HealthModule` beside `MessagingModule`. At SIGTERM, before `app.close()`, it sends
// clients away: then no request is refused.
export { HealthModule } from './health/health.module';
export { HealthService, type Readiness } from './health/health.service';
export { sendClientsAway } from './health/send-clients-away';
