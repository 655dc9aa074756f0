import { Module } from '@nestjs/common';
import { RateLimiter } from './rate-limiter';
import { WorkBudgets } from './work-budgets';

const PROVIDERS = [RateLimiter, WorkBudgets];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class RateLimitModule {}
