import { LoggerService } from '@nestjs/common';
import pino from 'pino';

/** Largest number of bytes of log lines that wait while stdout is blocked. Further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Makes a logger that writes JSON lines to stdout. Never pass it a key, a secret or a message's text. */
export function createLogger(level: string): pino.Logger {
  // Writes are synchronous, because the process could not exit while lines wait for a full disk.
  const stdout = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // An error of stdout is ignored, because it loses only log lines and there is no place to report it.
  stdout.on('error', () => undefined);
  const serializers = { err: describeError };
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, serializers }, stdout);
}

/**
 * Returns the properties of an error that may be logged. Leaves out other properties, because the error of a
 * failed query has the query's parameters, which are customers' data.
 */
function describeError(error: NodeJS.ErrnoException): object {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack };
}

const WIRING = new Set<unknown>([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Logs Nest's messages through pino: call `logger.log({ fields }, 'message')` or `logger.log('message')`. */
export class NestLogger implements LoggerService {
  constructor(private readonly pino: pino.Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /**
   * Writes one line. Nest passes the context as the last argument. A text before the context is the message
   * for the fields, or the stack of an error.
   */
  private write(level: pino.Level, message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const [text] = rest.length > 1 ? rest : [];
    if (message instanceof Error) this.pino[level]({ context, err: message }, message.message);
    else if (typeof message === 'object')
      this.pino[level]({ context, ...message }, text as string | undefined);
    else this.pino[level]({ context, ...(text ? { stack: text } : {}) }, message as string);
  }
}
