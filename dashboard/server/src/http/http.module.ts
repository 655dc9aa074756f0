import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Cookies } from './cookies';
import { LimitGuard } from './limit.guard';
import { SameOriginGuard } from './same-origin.guard';
import { SessionGuard } from './session.guard';
import { WorkspaceGuard } from './workspace.guard';

/** The guards that every request passes, in this order. */
@Global()
@Module({
  providers: [
    Cookies,
    { provide: APP_GUARD, useClass: SameOriginGuard },
    { provide: APP_GUARD, useClass: SessionGuard },
    { provide: APP_GUARD, useClass: WorkspaceGuard },
    { provide: APP_GUARD, useClass: LimitGuard },
  ],
  exports: [Cookies],
})
export class HttpModule {}
