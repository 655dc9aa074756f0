import { Global, Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { BudgetInterceptor } from './budget.interceptor';
import { Cookies } from './cookies';
import { Downloads } from './downloads';
import { LimitGuard } from './limit.guard';
import { SameOriginGuard } from './same-origin.guard';
import { SessionGuard } from './session.guard';
import { WorkspaceGuard } from './workspace.guard';

/**
 * Registers the guards, in the order in which they check a request, and the interceptor that limits how many
 * requests run at once.
 */
@Global()
@Module({
  providers: [
    Cookies,
    Downloads,
    { provide: APP_GUARD, useClass: SameOriginGuard },
    { provide: APP_GUARD, useClass: SessionGuard },
    { provide: APP_GUARD, useClass: WorkspaceGuard },
    { provide: APP_GUARD, useClass: LimitGuard },
    { provide: APP_INTERCEPTOR, useClass: BudgetInterceptor },
  ],
  exports: [Cookies, Downloads],
})
export class DashboardHttpModule {}
