import { Module } from '@nestjs/common';
import { RateLimitStorage } from './rate-limit.storage';
import { RateLimiter } from './rate-limiter';

/** What counts calls, over all processes. */
@Module({ providers: [RateLimitStorage, RateLimiter], exports: [RateLimitStorage, RateLimiter] })
export class RateLimitModule {}
