import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ClassConstructor } from 'class-transformer';
import { validate } from './validate';

@Injectable()
export class RequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const dto = metatype as ClassConstructor<object>;
    if (type === 'body') return validate(dto, value, 'INVALID_BODY');
    if (type === 'query') return validate(dto, value, 'INVALID_QUERY');
    return value;
  }
}
