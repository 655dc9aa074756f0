import { AppError } from '../common/app-error';

/** Makes the error of an option's value, which no page shows: so it has no code. */
export function optionFault(field: string, message: string): AppError {
  return new AppError('INVALID_BODY', `${field} ${message}.`, [{ field, message }]);
}
