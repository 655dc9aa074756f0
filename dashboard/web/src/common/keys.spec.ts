import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSendPress, keyOf, shortcutOf } from './keys';

const SOURCES = join(__dirname, '..');
const HELPER = join('common', 'keys.ts');
/** File that takes every key as a sign of life, and looks at none. */
const ACTIVITY = 'pages/inbox/use-activity.ts';

const press = (key: string, code: string, more: Partial<Parameters<typeof keyOf>[0]> = {}) => ({
  key,
  code,
  shiftKey: false,
  keyCode: 0,
  ...more,
});

describe('keys of the dashboard', () => {
  it('do nothing while an input method composes (public reports 60 and 61)', () => {
    for (const key of ['Enter', 'Escape', 'ArrowDown']) {
      expect(keyOf(press(key, key, { isComposing: true }))).toBe('Process');
      expect(keyOf(press(key, key, { nativeEvent: { isComposing: true } }))).toBe('Process');
      // Safari ends a composition before it tells of the Enter that did so.
      expect(keyOf(press(key, key, { isComposing: false, keyCode: 229 }))).toBe('Process');
      expect(keyOf(press(key, key, { isComposing: false }))).toBe(key);
    }
    expect(shortcutOf(press('j', 'KeyJ', { isComposing: true }))).toBe('process');
  });

  it.each([
    ['Russian', 'о', 'KeyJ', false, 'j'],
    ['Russian', '.', 'Slash', false, '/'],
    ['Russian', ',', 'Slash', true, '?'],
    ['Greek', 'ξ', 'KeyJ', false, 'j'],
    ['Hebrew', 'ח', 'KeyJ', false, 'j'],
    ['Arabic', 'ظ', 'Slash', false, '/'],
    ['Thai', 'ฝ', 'Slash', false, '/'],
    ['German', '/', 'Digit7', true, '/'],
    ['German', '?', 'Minus', true, '?'],
    ['German', '-', 'Slash', false, '-'],
    ['Dvorak', 'j', 'KeyC', false, 'j'],
    ['Dvorak', 'z', 'Slash', false, 'z'],
    ['US, Caps Lock', 'J', 'KeyJ', false, 'j'],
  ])('mean the same on a keyboard that is %s (public report 62): %s', (_, key, code, shiftKey, meant) =>
    expect(shortcutOf(press(key, code, { shiftKey }))).toBe(meant),
  );

  it.each([
    ['Ctrl+Enter', { ctrlKey: true }, true],
    ['Cmd+Enter', { metaKey: true }, true],
    ['Enter', {}, false],
    ['AltGr+Enter on Windows (ccampbell/mousetrap#271)', { ctrlKey: true, altKey: true }, false],
    ['Ctrl+Enter that ends a composition', { ctrlKey: true, keyCode: 229 }, false],
  ])('send what is written or not: %s', (_, more, sends) =>
    expect(isSendPress(press('Enter', 'NumpadEnter', more))).toBe(sends),
  );

  it('are read by the helper wherever they are taken', () => {
    const takers = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && path !== HELPER && path !== ACTIVITY)
      .map((path) => ({ path, text: readFileSync(join(SOURCES, path), 'utf8') }))
      .filter(({ text }) => /onKey(Down|Up)=|'key(down|up)'/.test(text));
    expect(takers.length).toBeGreaterThan(5);
    const careless = takers.filter(
      ({ text }) => !/common\/keys'|'\.\/keys'/.test(text) || /event\.key\b/.test(text),
    );
    expect(careless.map(({ path }) => path)).toEqual([]);
  });
});
