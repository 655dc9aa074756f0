import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { finalize, Observable } from 'rxjs';
import { WidgetRequest } from './visitor';

/**
 * Gives a request's slot back when the answer is made: a client that reads it slowly, or a stream, does not
 * keep it.
 */
@Injectable()
export class WidgetSlotInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { releaseSlot } = context.switchToHttp().getRequest<Partial<WidgetRequest>>();
    return releaseSlot ? next.handle().pipe(finalize(releaseSlot)) : next.handle();
  }
}
