import { ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, ValidationError } from 'class-validator';
import { AppError, ErrorDetail } from './app-error';

/**
 * Checks input against its DTO: nothing unknown is let through, nothing is clamped, every fault is named at once.
 * @returns the DTO's instance
 * @throws AppError with `code` and a detail for each fault
 */
export function validate<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
  code: 'INVALID_BODY' | 'INVALID_QUERY' = 'INVALID_BODY',
): T {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new AppError(code, 'A JSON object sent as application/json is required.');
  }
  const instance = plainToInstance(dto, input, { exposeDefaultValues: true });
  const details = detailsOf(validateSync(instance, { whitelist: true, forbidNonWhitelisted: true }));
  if (details.length === 0) return instance;
  const message = details.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new AppError(code, `${message}.`, details);
}

function detailsOf(errors: ValidationError[], parent = ''): ErrorDetail[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = parent + property;
    const own = Object.entries(constraints).map(([rule, message]) => ({
      field,
      message: rule === 'whitelistValidation' ? 'is not a known field' : message.replace(`${property} `, ''),
    }));
    return [...own, ...detailsOf(children, `${field}.`)];
  });
}
