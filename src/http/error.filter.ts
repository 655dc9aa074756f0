import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../common/app-error';
import { isDatabaseAway } from '../database/driver/database-errors';
import { sendError } from './connections/error-answer';
import { IdentifiedRequest } from './connections/request-id';
import { noteAnswer } from './handled-requests';

/** Start of the message of the router's 400 error for a path with a broken percent-encoding. */
const UNDECODABLE_PATH = /^Failed to decode param/;

/** Turns every error into a response. An unexpected error becomes 500, and is logged with its stack. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    noteAnswer(response);
    const { requestId } = host.switchToHttp().getRequest<IdentifiedRequest>();
    const error = this.toAppError(exception);
    if (error === exception && error.status >= 500) this.logger.warn({ requestId }, error.message);
    else if (error.status >= 500) this.logger.error({ requestId, err: exception }, error.message);
    sendError(response, error);
  }

  private toAppError(exception: unknown): AppError {
    if (exception instanceof AppError) return exception;
    if (exception instanceof HttpException) return fromHttp(exception);
    if (isDatabaseAway(exception)) return AppError.busy();
    return internal();
  }
}

function fromHttp(exception: HttpException): AppError {
  switch (exception.getStatus()) {
    case 404:
      return new AppError('NOT_FOUND', 'No such path.');
    case 413:
      return new AppError('PAYLOAD_TOO_LARGE', 'The body is too large.');
    case 400:
      if (UNDECODABLE_PATH.test(exception.message)) return new AppError('NOT_FOUND', 'No such path.');
      return new AppError('INVALID_BODY', 'The body cannot be read.');
    case 415:
      return new AppError('INVALID_BODY', 'The Content-Encoding of the body is not gzip, deflate or br.');
    default:
      return internal();
  }
}

function internal(): AppError {
  return AppError.because('INTERNAL', 'internal');
}
