import { Module } from '@nestjs/common';
import { RateLimitStorage } from './rate-limit-storage';
import { RateLimiter } from './rate-limiter';
import { WorkBudgets } from './work-budgets';

@Module({
  providers: [RateLimitStorage, RateLimiter, WorkBudgets],
  exports: [RateLimitStorage, RateLimiter, WorkBudgets],
})
export class RateLimitModule {}
