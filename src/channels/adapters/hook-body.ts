import { AppError } from '../../common/app-error';
import { HookRequest } from './channel-adapter';

/** @throws AppError INVALID_BODY */
export function jsonOf({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(rawBody.toString()) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
