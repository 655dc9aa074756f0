import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onKeys } from './composition';

const SOURCES = readdirSync(join(__dirname, '..'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.spec.ts'))
  .map((name) => [name, readFileSync(join(__dirname, '..', name), 'utf8')] as const);

describe('a handler of keys', () => {
  const press = (init: object) =>
    ({ key: 'Escape', isComposing: false, keyCode: 27, ...init }) as KeyboardEvent;

  it('leaves those of an input method alone (public report 61)', () => {
    const handled: string[] = [];
    const handler = onKeys(({ key }) => handled.push(key));
    handler(press({ isComposing: true }));
    handler(press({ keyCode: 229 }));
    expect(handled).toEqual([]);
    handler(press({}));
    expect(handled).toEqual(['Escape']);
  });

  it.each(SOURCES)('is made by the one helper in %s (public report 61)', (_, source) => {
    const inPage = [...source.matchAll(/\bonKey(?:Down|Up|Press)(?:Capture)?=\{([^}]*)\}/g)].map(
      ([, name]) => name!,
    );
    const listeners = [
      ...source.matchAll(/(?:addEventListener\(\s*|onkey)['"`]?key?(?:down|up|press)[^,]*,\s*(\w*)/g),
    ];
    const names = [...inPage, ...listeners.map(([, name]) => name!)].map((name) => name.replace('this.', ''));
    for (const name of names) expect(source).toMatch(new RegExp(`\\b${name} = onKeys\\(`));
    if (/\bevent\.(key|code|keyCode)\b/.test(source)) expect(source).toMatch(/\bonKeys\b/);
  });
});
