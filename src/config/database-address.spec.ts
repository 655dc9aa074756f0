import { parseDatabaseAddress, withRoleOf } from './database-address';

const READ_WRITE = 'target_session_attrs=read-write';

describe('parseDatabaseAddress', () => {
  it.each([
    'postgresql://localhost/messaging',
    'postgres://user:pass%2Cword@db:6432/messaging?sslmode=require',
    'postgresql://user:a,b@db/messaging',
    'postgresql://user@[::1]:5432/messaging',
    'postgresql:///messaging?host=/var/run/postgresql',
    'postgresql://db',
  ])('leaves one server as it is: %s', (address) => {
    expect(parseDatabaseAddress(address)).toEqual({ urls: [address], requiresPrimary: false });
  });

  it.each([
    [`postgresql://db/messaging?${READ_WRITE}`, 'postgresql://db/messaging'],
    [`postgresql://db/messaging?${READ_WRITE}&sslmode=disable`, 'postgresql://db/messaging?sslmode=disable'],
    [`postgresql://db/messaging?sslmode=disable&${READ_WRITE}`, 'postgresql://db/messaging?sslmode=disable'],
    [`postgresql://db/messaging?a=1&${READ_WRITE}&b=2`, 'postgresql://db/messaging?a=1&b=2'],
  ])('takes one that must be the primary: %s', (address, url) => {
    expect(parseDatabaseAddress(address)).toEqual({ urls: [url], requiresPrimary: true });
  });

  it('takes several hosts, each with or without a port', () => {
    const address = `postgresql://user:p,a@one:5433,two,[::1]:5434/messaging?sslmode=disable&${READ_WRITE}`;
    expect(parseDatabaseAddress(address)).toEqual({
      urls: [
        'postgresql://user:p,a@one:5433/messaging?sslmode=disable',
        'postgresql://user:p,a@two/messaging?sslmode=disable',
        'postgresql://user:p,a@[::1]:5434/messaging?sslmode=disable',
      ],
      requiresPrimary: true,
    });
  });

  it.each([
    ['postgresql://one,two/messaging', /several hosts need target_session_attrs=read-write/],
    ['postgresql://one/messaging?target_session_attrs=any', /must be read-write/],
    [`postgresql://one,/messaging?${READ_WRITE}`, /"" is not a host/],
    [`postgresql://one,two:/messaging?${READ_WRITE}`, /"two:" is not a host/],
    [`postgresql://one,two:x/messaging?${READ_WRITE}`, /"two:x" is not a host/],
    [`postgresql://one:70000,two/messaging?${READ_WRITE}`, /"one:70000" is not a host/],
    [`postgresql://one:0,two/messaging?${READ_WRITE}`, /"one:0" is not a host/],
    [`postgresql://::1,two/messaging?${READ_WRITE}`, /"::1" is not a host/],
    ['mysql://one/messaging', /must be a postgresql/],
  ])('refuses %s', (address, fault) => {
    expect(() => parseDatabaseAddress(address)).toThrow(fault);
  });
});

it.each([
  ['postgresql://owner:o@db:5432/messaging', 'postgresql://service:s@db:5432/messaging'],
  ['postgresql://db/messaging?sslmode=require', 'postgresql://service:s@db/messaging?sslmode=require'],
  [
    `postgresql://owner@one,two/messaging?${READ_WRITE}`,
    `postgresql://service:s@one,two/messaging?${READ_WRITE}`,
  ],
])('withRoleOf keeps the hosts and the database of %s', (address, expected) => {
  expect(withRoleOf(address, 'postgresql://service:s@pooler:6432/alias')).toBe(expected);
});
