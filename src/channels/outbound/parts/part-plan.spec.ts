import { sumOfParts } from './message-part';
import { planParts, statusesOfRepeat } from './part-plan';

const file = (id: string, more: object = {}) => ({
  id,
  fileId: `file of ${id}`,
  kind: 'IMAGE' as const,
  contentType: 'image/png',
  size: 1000,
  caption: null as string | null,
  ...more,
});
const contentsOf = (...given: Parameters<typeof planParts>) =>
  planParts(...given).map(({ content, attachmentId }) => `${content} ${attachmentId}`);

describe('planParts', () => {
  it('makes the text the caption of the first file, where it fits', () => {
    expect(contentsOf('WHATSAPP', 'Hi', [file('a'), file('b')])).toEqual(['FILE_WITH_BODY a', 'FILE b']);
    expect(contentsOf('WHATSAPP', 'x'.repeat(1025), [file('a')])).toEqual(['BODY null', 'FILE a']);
    const voice = file('v', { kind: 'AUDIO', contentType: 'audio/ogg' });
    expect(contentsOf('WHATSAPP', 'Hi', [voice])).toEqual(['BODY null', 'FILE v']);
    expect(contentsOf('TELEGRAM', 'Hi', [voice])).toEqual(['FILE_WITH_BODY v']);
    expect(contentsOf('MESSENGER', 'Hi', [file('a')])).toEqual(['BODY null', 'FILE a']);
  });

  it('keeps captions with their files, where they fit', () => {
    const files = [file('a', { caption: 'A' }), file('b', { caption: 'B' })];
    expect(contentsOf('TELEGRAM', 'Hi', files)).toEqual([
      'BODY null',
      'FILE_WITH_CAPTION a',
      'FILE_WITH_CAPTION b',
    ]);
    expect(contentsOf('INSTAGRAM', null, files)).toEqual(['CAPTION a', 'FILE a', 'CAPTION b', 'FILE b']);
  });

  it('plans a file that the channel takes no more, so that it fails by itself', () => {
    expect(contentsOf('WHATSAPP', 'Hi', [file('a', { contentType: 'image/webp' }), file('b')])).toEqual([
      'BODY null',
      'FILE a',
      'FILE b',
    ]);
  });
});

describe('sumOfParts', () => {
  const sum = (...statuses: string[]) =>
    sumOfParts(statuses.map((status) => ({ status: status as 'SENT', error: null })))?.status ?? null;

  it('waits for open parts', () => {
    expect(sum('SENT', 'QUEUED')).toBeNull();
    expect(sum('FAILED', 'SENDING')).toBeNull();
    expect(sum()).toBeNull();
  });

  it('is FAILED before UNKNOWN, and else the least advanced', () => {
    expect(sum('READ', 'UNKNOWN', 'FAILED')).toBe('FAILED');
    expect(sum('READ', 'UNKNOWN', 'SENT')).toBe('UNKNOWN');
    expect(sum('READ', 'SENT', 'DELIVERED')).toBe('SENT');
    expect(sum('READ', 'DELIVERED')).toBe('DELIVERED');
    expect(sum('READ')).toBe('READ');
  });
});

describe('statusesOfRepeat', () => {
  const planned = planParts('TELEGRAM', 'Hi', [file('c'), file('d'), file('e')]);
  const again = (statuses: string[], isSameText = true) =>
    statusesOfRepeat(
      planned,
      planned.map((part, n) => ({ ...part, status: statuses[n] as 'SENT', error: null })),
      isSameText,
    ).map(({ status }) => status);

  it('sends failed and unsent parts alone', () => {
    expect(again(['READ', 'FAILED', 'QUEUED'])).toEqual(['READ', 'QUEUED', 'QUEUED']);
    expect(again(['UNKNOWN', 'FAILED', 'SENT'])).toEqual(['UNKNOWN', 'QUEUED', 'SENT']);
  });

  it('sends unknown parts if none has failed', () => {
    expect(again(['UNKNOWN', 'SENT', 'SENT'])).toEqual(['QUEUED', 'SENT', 'SENT']);
  });

  it('sends a part with another text', () => {
    expect(again(['SENT', 'FAILED', 'SENT'], false)).toEqual(['QUEUED', 'QUEUED', 'SENT']);
  });

  it('sends everything of a message whose parts are not known', () => {
    expect(statusesOfRepeat(planned, [], false).map(({ status }) => status)).toEqual([
      'QUEUED',
      'QUEUED',
      'QUEUED',
    ]);
  });
});
