import { nameOfBrowser } from './browser-name';

const CHROME_ON_LINUX =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0.0.0 Safari/537.36';

describe('the name of a browser', () => {
  it.each([
    [CHROME_ON_LINUX, 'Chrome · Linux'],
    [`${CHROME_ON_LINUX} Edg/146.0.0.0`, 'Edge · Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) AppleWebKit/605 Version/20.0 Safari/604',
      'Safari · iOS',
    ],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox · Windows'],
    ['curl/8.5.0', 'curl'],
    ['something else', null],
    [null, null],
  ])('is told by %j: %j', (userAgent, name) => {
    expect(nameOfBrowser(userAgent)).toBe(name);
  });
});
