import {
  ArgumentMetadata,
  CanActivate,
  ExecutionContext,
  Injectable,
  PipeTransform,
  UseGuards,
} from '@nestjs/common';
import { ClassConstructor } from 'class-transformer';
import type { Request } from 'express';
import { AppError } from '../common/app-error';
import { makeFault } from '../common/error-texts';
import { validate } from '../common/validate';

@Injectable()
export class RequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const dto = metatype as ClassConstructor<object>;
    if (type === 'body') return validate(dto, value, 'INVALID_BODY');
    if (type === 'query') return validate(dto, value, 'INVALID_QUERY');
    return value;
  }
}

/** Refuses every query parameter, on routes without a query DTO. */
export const NoQuery = () => UseGuards(NoQueryGuard);

@Injectable()
class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const fields = Object.keys(context.switchToHttp().getRequest<Request>().query);
    if (fields.length === 0) return true;
    const details = fields.map((field) => ({ field, ...makeFault('unknown_field') }));
    throw new AppError('INVALID_QUERY', 'This path takes no query parameters.', details);
  }
}
