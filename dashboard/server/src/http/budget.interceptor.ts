import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { hasOwnBudget, WorkBudgets } from 'conversation-messaging-service/http';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { WorkspaceRequest } from './access.decorators';

/**
 * Gives each request of a session a slot of its workspace, or of its person, until its answer is made, but
 * not while it waits for another server or a download's reader, and not if its service takes a slot of
 * another kind. However long their requests take, a workspace or person never has more than half of the
 * slots.
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
