import { CallHandler, ExecutionContext, Injectable, NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { finalize, Observable } from 'rxjs';
import { AuthenticatedRequest } from '../http/access.decorators';
import { WorkBudgets, WorkKind } from './work-budgets';

const OWN_BUDGET = 'budget:own';
const KIND = 'budget:kind';

/**
 * Marks a route whose service takes a slot of another kind. A request that waited with two slots would hold
 * up others.
 */
export const HasOwnBudget = (has: (request: Request) => boolean) => SetMetadata(OWN_BUDGET, has);

/** Names the kind of slots that the requests of a route take, in place of `requests`. */
export const TakesSlotOf = (kind: WorkKind) => SetMetadata(KIND, kind);

/** Returns the kind of slots that the requests of a route take. */
export function slotKindOf(reflector: Reflector, context: ExecutionContext): WorkKind {
  return reflector.get<WorkKind | undefined>(KIND, context.getHandler()) ?? 'requests';
}

/** Reports whether the service of a request's route takes a slot of another kind than `requests`. */
export function hasOwnBudget(reflector: Reflector, context: ExecutionContext): boolean {
  const has = reflector.get<((of: Request) => boolean) | undefined>(OWN_BUDGET, context.getHandler());
  return has?.(context.switchToHttp().getRequest<Request>()) ?? false;
}

/**
 * Gives each request with an API key a slot of its workspace, after the guards and until its answer is made.
 */
@Injectable()
export class RequestBudgetInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly budgets: WorkBudgets,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request & Partial<AuthenticatedRequest>>();
    if (!request.principal || hasOwnBudget(this.reflector, context)) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    const kind = slotKindOf(this.reflector, context);
    const release = await this.budgets.acquire(kind, request.principal.tenant.id, response);
    return next.handle().pipe(finalize(release));
  }
}
