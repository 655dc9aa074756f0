import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ApiErrorCode } from '../../common/app-error';
import { REASONS } from '../../common/reason-texts';
import { ApiErrors } from '../../http/api.decorators';
import { errorResponses, OtherErrors, RATE_LIMIT_HEADERS } from '../../http/error-responses';

/** Documentation of errors that mean something else on a route that takes a file. */
const UPLOAD_ERRORS: OtherErrors = {
  name: 'Upload',
  documentation: {
    REQUEST_TIMEOUT: {
      when: 'The bytes came too slowly: less than 16 KiB in 20 seconds, or not all within 30 minutes.',
      message: 'The body came too slowly.',
    },
    PAYLOAD_TOO_LARGE: {
      when: 'The file is larger than it was declared, or than the channel takes, or the files of the workspace take up all of their space: `reason` says which.',
      message: REASONS.upload_too_large.replace('{max}', '48211'),
    },
  },
  headers: RATE_LIMIT_HEADERS,
};

/** Documents the given errors, and the errors of every route that takes a file. */
export function ApiUploadErrors(...codes: ApiErrorCode[]): MethodDecorator {
  return applyDecorators(
    ApiErrors('INVALID_QUERY', 'INVALID_BODY', 'TRIAL_EXPIRED', ...codes),
    ...errorResponses(['REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE'], UPLOAD_ERRORS).map((response) =>
      ApiResponse(response),
    ),
  );
}
