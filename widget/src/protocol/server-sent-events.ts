interface ServerSentEvent {
  event: string;
  data: string;
}

/** Parses a stream of server-sent events from pieces of any size. Returns complete events. */
export class ServerSentEventParser {
  private rest = '';
  private event = '';
  private data: string[] = [];

  feed(piece: string): ServerSentEvent[] {
    const text = this.rest + piece;
    // A carriage return at the end of a piece may be the first half of a CR LF, so it is not split off yet.
    const isHalf = text.endsWith('\r');
    const lines = (isHalf ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
    this.rest = lines.pop()! + (isHalf ? '\r' : '');
    return lines.flatMap((line) => this.take(line) ?? []);
  }

  private take(line: string): ServerSentEvent | null {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.event = value;
    if (field === 'data') this.data.push(value);
    return null;
  }

  private dispatch(): ServerSentEvent | null {
    const { event, data } = this;
    this.event = '';
    this.data = [];
    return data.length === 0 ? null : { event: event || 'message', data: data.join('\n') };
  }
}
