import { AppError } from './app-error';
import { FAULTS } from './fault-texts';
import { REASONS } from './reason-texts';
import { fillText, makeFault, readFault } from './error-texts';

describe('the texts of errors', () => {
  it('hold their values', () => {
    expect(makeFault('password_length', { min: 8, max: 200 })).toEqual({
      message: 'must have 8 to 200 characters',
      code: 'password_length',
      values: { min: 8, max: 200 },
    });
    expect(fillText('{a}, {b}', { a: ['x', 1] })).toBe('x, 1, {b}');
  });

  it('name their field, unless they are sentences by themselves', () => {
    for (const [error, message] of [
      [AppError.invalidBody('name', 'blank'), 'name must not be blank.'],
      [AppError.invalidBody('url', 'url_not_https'), 'The URL must begin with https://.'],
      [
        AppError.invalidBody('url', 'host_unknown', { host: 'shop.example' }),
        'shop.example does not exist (NXDOMAIN).',
      ],
    ] as const)
      expect(error.message).toBe(message);
  });

  it('stand beside their codes in an answer', () => {
    expect(AppError.invalidBody('name', 'blank').toBody('7')).toEqual({
      error: {
        code: 'INVALID_BODY',
        message: 'name must not be blank.',
        details: [{ field: 'name', message: 'must not be blank', code: 'blank' }],
        requestId: '7',
      },
    });
    expect(AppError.notFound('Agent').toBody('7')).toEqual({
      error: {
        code: 'NOT_FOUND',
        message: 'Agent not found.',
        reason: 'not_found',
        values: { thing: 'Agent' },
        requestId: '7',
      },
    });
  });

  it('are read back into their codes and values', () => {
    const texts = [
      makeFault('no_connection', { code: 'ECONNREFUSED' }),
      makeFault('redirected', { status: '301' }),
      makeFault('answered', { status: '500' }),
      makeFault('host_unresolved', { host: 'a.example', code: 'EREFUSED' }),
      makeFault('tls_closed'),
    ];
    for (const { message, ...coded } of texts) expect(readFault(message)).toEqual(coded);
    for (const code of ['no_answer_ready', 'url_has_fragment', 'attempt_internal'] as const)
      expect(readFault(FAULTS[code])).toEqual({ code });
    expect(readFault('Something else')).toBeNull();
  });

  it('are sentences where they refuse a request as a whole', () => {
    for (const text of Object.values(REASONS)) expect(text).toMatch(/^[A-Z{].*\.$/);
  });
});
