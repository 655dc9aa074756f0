import { LoggerService } from '@nestjs/common';
import pino from 'pino';

/** What is kept of lines that stdout does not take, until it does again; more is dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** The process's logger: JSON lines on stdout. What is given to it never holds a key, a secret or a message body. */
export function createLogger(level: string): pino.Logger {
  // Written at once: what is left to be written at the end would keep a process from exiting over a full disk.
  const stdout = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // A full disk, or a reader that is gone, costs lines of the log and nothing else. There is nowhere to report it to.
  stdout.on('error', () => undefined);
  const serializers = { err: describeError };
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, serializers }, stdout);
}

/** An error without its other properties: a failed query carries its parameters, and those are customers' data. */
function describeError(error: NodeJS.ErrnoException): object {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack };
}

/** What Nest says of its own wiring at every start. */
const WIRING = new Set<unknown>([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Nest's logging interface over pino: `logger.log({ fields }, 'message')` or `logger.log('message')`. */
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

  /** Nest passes the context's name last; a text before it belongs to the fields, or is an error's stack. */
  private write(level: pino.Level, message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const [text] = rest.length > 1 ? rest : [];
    if (message instanceof Error) this.pino[level]({ context, err: message }, message.message);
    else if (typeof message === 'object')
      this.pino[level]({ context, ...message }, text as string | undefined);
    else this.pino[level]({ context, ...(text ? { stack: text } : {}) }, message as string);
  }
}
