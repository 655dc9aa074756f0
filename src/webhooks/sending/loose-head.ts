/** Bytes after which the rest of a head is returned unchanged, so that Node's parser refuses it. */
const MAX_TIDIED_LENGTH = 128 * 1024;

const STATUS_LINE = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)[ \t]*(.*)$/i;
const HTTP = 'HTTP/';
const FIELD = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:[ \t]*(.*)$/;

/**
 * Brings the head of an answer into a form that Node's lenient parser accepts. It removes spaces in the
 * status line and before a colon, repetitions of the same Content-Length, and lines that are no fields. Two
 * different lengths stay, so that the parser refuses the answer.
 */
export class LooseHead {
  private line = '';
  private size = 0;
  private isStatusNext = true;
  private isInterim = false;
  private isDropped = false;
  private isOver = false;
  private contentLength: string | null = null;

  /** Returns the next bytes for the parser. A line of the head is returned once it is complete. */
  tidy(chunk: Buffer): Buffer {
    if (this.isOver) return chunk;
    let text = chunk.toString('latin1');
    let tidied = '';
    for (let end = text.indexOf('\n'); end >= 0 && !this.isOver; end = text.indexOf('\n')) {
      const line = withoutReturns(this.line + text.slice(0, end));
      this.line = '';
      tidied += this.tidyLine(line);
      text = text.slice(end + 1);
    }
    const hasReturnInside = /\r[^]/.test(text) || (this.line.at(-1) === '\r' && text !== '');
    this.line += text;
    this.size += chunk.length;
    const isNotHttp = this.isStatusNext && (hasReturnInside || !isBeginningOf(HTTP, this.line));
    this.isOver ||= isNotHttp || this.size > MAX_TIDIED_LENGTH;
    if (this.isOver) tidied += this.line;
    return Buffer.from(tidied, 'latin1');
  }

  private tidyLine(line: string): string {
    if (line === '') return this.endHead();
    if (this.isStatusNext) return this.tidyStatus(line);
    const isFolded = /^[ \t]/.test(line);
    if (!isFolded) return this.tidyField(line);
    return this.isDropped ? '' : `${line}\r\n`;
  }

  private endHead(): string {
    if (this.isStatusNext) return '';
    this.isOver = !this.isInterim;
    this.isStatusNext = this.isInterim;
    this.contentLength = null;
    return '\r\n';
  }

  private tidyStatus(line: string): string {
    const [, status, reason] = STATUS_LINE.exec(line) ?? [];
    this.isStatusNext = false;
    this.isInterim = status?.startsWith('1') === true && status !== '101';
    return status === undefined ? `${line}\r\n` : `HTTP/1.1 ${status} ${reason}\r\n`;
  }

  private tidyField(line: string): string {
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    const length = name?.toLowerCase() === 'content-length' ? oneOf(value) : null;
    this.isDropped = name === undefined || (length !== null && length === this.contentLength);
    this.contentLength = length ?? this.contentLength;
    return this.isDropped ? '' : `${name}: ${length ?? value}\r\n`;
  }
}

/** Returns a line without the CRs at its end, and with a space for each CR inside. */
function withoutReturns(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(0, end).replaceAll('\r', ' ');
}

/** Reports whether a line, perhaps cut off, begins with a text in any letter case, or is a lone CR. */
function isBeginningOf(text: string, line: string): boolean {
  return line === '\r' || text.startsWith(line.slice(0, text.length).toUpperCase());
}

/** Returns the value of a list of equal values such as "2, 2"; any other list unchanged. */
function oneOf(list: string): string {
  const values = new Set(list.split(',').map((value) => value.trim()));
  return values.size === 1 ? [...values][0]! : list;
}
