import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { hasOwnBudget, WorkBudgets } from 'conversation-messaging-service/http';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { WorkspaceRequest } from './access.decorators';

/**
 * Limits how many requests with a session run at once. Each request acquires a slot, and releases it when the
 * response is ready. The path's workspace, or else the person, can use at most half of all slots. Routes
 * whose service acquires a slot of another kind get none here. Services release the slot while they wait for
 * another server or for a download's reader.
 */
@Injectable()
export class BudgetInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly budgets: WorkBudgets,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { opened, membership } = http.getRequest<Partial<WorkspaceRequest>>();
    if (!opened || hasOwnBudget(this.reflector, context)) return next.handle();
    const key = membership?.workspace.id ?? opened.person.id;
    const response = http.getResponse<Response>();
    return from(this.budgets.runRequest(key, response, () => lastValueFrom(next.handle())));
  }
}
