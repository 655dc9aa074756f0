import { ServerSentEventParser } from './server-sent-events';

const STREAM = 'event: ready\nid: 1\ndata: {"sequence":1}\n\nevent: message\ndata: a\ndata: b\n\n';
const EVENTS = [
  { event: 'ready', data: '{"sequence":1}' },
  { event: 'message', data: 'a\nb' },
];

describe('ServerSentEventParser', () => {
  it('gives the same events wherever the stream is cut', () => {
    for (const lineEnd of ['\n', '\r\n', '\r'])
      for (let size = 1; size <= STREAM.length; size += 1) {
        const parser = new ServerSentEventParser();
        const text = STREAM.replaceAll('\n', lineEnd);
        const events = [];
        for (let from = 0; from < text.length; from += size)
          events.push(...parser.feed(text.slice(from, from + size)));
        // A single carriage return may be half of a line's end: the next character decides.
        events.push(...parser.feed(': done\n'));
        expect(events).toEqual(EVENTS);
      }
  });

  it('takes no comment, unknown field or event without data for an event', () => {
    const parser = new ServerSentEventParser();
    expect(parser.feed(': hello\n\nretry: 5\n\nevent: nothing\n\n')).toEqual([]);
    expect(parser.feed('data:x\n\n')).toEqual([{ event: 'message', data: 'x' }]);
  });

  it('keeps an event back until it is complete', () => {
    const parser = new ServerSentEventParser();
    expect(parser.feed('data: half')).toEqual([]);
    expect(parser.feed(' and half\n')).toEqual([]);
    expect(parser.feed('\n')).toEqual([{ event: 'message', data: 'half and half' }]);
  });
});
