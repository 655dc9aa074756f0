import { toQuery } from '../../dashboard/web/src/api/client';
import { fromLocal, toLocal } from '../../dashboard/web/src/common/local-time';
import { nameOfBrowser } from '../../dashboard/web/src/pages/account/browser-name';
import { filterOf } from '../../dashboard/web/src/pages/deliveries/delivery-filter';

const CHROME_ON_LINUX =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0.0.0 Safari/537.36';

/** Tests of the parts of the dashboard's pages that need no page. */
describe('parts of the pages', () => {
  it('write a time as its field has it, and read it back', () => {
    const moment = '2026-11-23T01:02:03.000Z';
    expect(toLocal(moment)).toMatch(/^2026-11-2[234]T\d\d:\d\d:03$/);
    expect(fromLocal(toLocal(moment))).toBe(moment);
  });

  it.each([undefined, '', 'yesterday'])('have no time for %j', (text) => {
    expect(toLocal(text)).toBe('');
    expect(fromLocal(text ?? '')).toBeUndefined();
  });

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
  ])('name the browser of %j', (userAgent, name) => {
    expect(nameOfBrowser(userAgent)).toBe(name);
  });

  it('ask only for what is given', () => {
    expect(toQuery({ cursor: undefined, event: '', status: 'pending', limit: 5 })).toBe(
      '?status=pending&limit=5',
    );
    expect(toQuery({})).toBe('');
  });

  it('take filters alone from an address', () => {
    expect(filterOf({ status: 'pending', cursor: 'x', period: '7d' } as object)).toEqual({
      status: 'pending',
    });
  });
});
