import { CallHandler, ExecutionContext, Injectable, NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { finalize, from, lastValueFrom, Observable } from 'rxjs';
import { AuthenticatedRequest } from '../access.decorators';
import { WorkBudgets } from './work-budgets';

const OWN_BUDGET = 'budget:own';
const WAITS_OUTSIDE = 'budget:outside';

/**
 * Marks a route whose requests, if `has` returns true, need a slot of another kind than `requests`. They get
 * no slot of `requests`, because a request that waits for a second slot would keep the first from others.
 */
export const HasOwnBudget = (has: (request: Request) => boolean) => SetMetadata(OWN_BUDGET, has);

/**
 * Marks a route whose service waits for a party outside this service, such as a provider. While it waits, the
 * request gives its slot back, so that other requests can use it.
 */
export const WaitsOutside = () => SetMetadata(WAITS_OUTSIDE, true);

/** Reports whether a request acquires a slot of another kind than `requests`. */
export function hasOwnBudget(reflector: Reflector, context: ExecutionContext): boolean {
  const has = reflector.get<((of: Request) => boolean) | undefined>(OWN_BUDGET, context.getHandler());
  return has?.(context.switchToHttp().getRequest<Request>()) ?? false;
}

/**
 * Limits how many requests of a workspace run at once: each request with an API key needs a slot. It has the
 * slot until its answer is made, except while it waits for a party outside this service.
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
    const { id } = request.principal.tenant;
    if (this.reflector.get<boolean | undefined>(WAITS_OUTSIDE, context.getHandler()))
      return from(this.budgets.runRequest(id, response, () => lastValueFrom(next.handle())));
    const release = await this.budgets.acquire('requests', id, response);
    return next.handle().pipe(finalize(release));
  }
}
