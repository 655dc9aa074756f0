import { copySettings } from './arguments';

const cycle: Record<string, unknown> = {};
cycle['texts'] = cycle;

describe('the settings of a page', () => {
  it.each([
    [{}],
    [{ locale: 'de', theme: 'dark', position: 'left', title: '', welcome: 'Tea, "green"\\\nand {black}' }],
    [{ form: {} }],
    [{ form: { email: 'required', name: 'optional' } }],
    [{ texts: {} }],
    [{ texts: { openChat: 'Ask us', unread: '{count} new', title: '"' }, title: 'Tea' }],
    [{ texts: { unread: { one: 'One', other: '{count} "new"' }, send: 'Go' } }],
    [{ texts: { unread: { other: 'New' } } }],
  ])('are copied: %j', (settings) => {
    const copy = copySettings(settings);
    expect(copy).toEqual(settings);
    expect(copy).not.toBe(settings);
  });

  it('may be undefined, each of them', () => {
    expect(copySettings({ theme: undefined, texts: { send: undefined }, title: 'Tea' })).toEqual({
      title: 'Tea',
      texts: {},
    });
  });

  it.each([
    [undefined],
    [null],
    ['dark'],
    [[]],
    [[{ title: 'Tea' }]],
    [() => ({})],
    [{ color: 'red' }],
    [{ 'title": "x': 'y' }],
    [{ theme: 'pink' }],
    [{ theme: 'dark"' }],
    [{ theme: ['dark'] }],
    [{ position: 'top' }],
    [{ title: 5 }],
    [{ title: () => 'Tea' }],
    [{ title: 5n }],
    [{ welcome: null }],
    [{ locale: { tag: 'de' } }],
    [{ form: null }],
    [{ form: [] }],
    [{ form: 'name' }],
    [{ form: { name: 'perhaps' } }],
    [{ form: { phone: 'optional' } }],
    [{ texts: null }],
    [{ texts: [] }],
    [{ texts: ['Hello'] }],
    [{ texts: 'Hello' }],
    [{ texts: { openChat: 5 } }],
    [{ texts: { openChat: null } }],
    [{ texts: { openChat: () => 'Ask us' } }],
    [{ texts: { openChat: { other: 'Ask us' } } }],
    [{ texts: { unread: {} } }],
    [{ texts: { unread: { one: 'One' }, other: 'New' } }],
    [{ texts: { unread: { one: 1, other: 'New' } } }],
    [{ title: 'Right', theme: 'wrong' }],
    [cycle],
  ])('are refused: %p', (settings) => {
    expect(() => copySettings(settings)).toThrow(TypeError);
  });
});
