import { parseRedisAddress } from './redis-address';

describe('parseRedisAddress', () => {
  it.each(['redis://localhost', 'rediss://user:pass@cache.example:6380/2'])('takes one server: %s', (url) => {
    expect(parseRedisAddress(url)).toEqual({ kind: 'server', url });
  });

  it('takes Sentinels, with the name of the primary', () => {
    expect(parseRedisAddress('redis+sentinel://one:26380,two/messaging')).toEqual({
      kind: 'sentinel',
      hosts: [
        { host: 'one', port: 26_380 },
        { host: 'two', port: 26_379 },
      ],
      name: 'messaging',
      db: 0,
      isTls: false,
    });
  });

  it('takes TLS, a user, passwords and a database', () => {
    const address = 'rediss+sentinel://app:p%40ss%3A@one:1,[::1]:2/primary/3?sentinelPassword=s%26p';
    expect(parseRedisAddress(address)).toEqual({
      kind: 'sentinel',
      hosts: [
        { host: 'one', port: 1 },
        { host: '::1', port: 2 },
      ],
      name: 'primary',
      db: 3,
      username: 'app',
      password: 'p@ss:',
      sentinelPassword: 's&p',
      isTls: true,
    });
  });

  it('takes the nodes of a Cluster', () => {
    expect(parseRedisAddress('redis+cluster://:secret@10.0.0.1:7000,10.0.0.2')).toEqual({
      kind: 'cluster',
      hosts: [
        { host: '10.0.0.1', port: 7_000 },
        { host: '10.0.0.2', port: 6_379 },
      ],
      password: 'secret',
      isTls: false,
    });
  });

  it.each([
    ['http://localhost', 'is not of the form'],
    ['redis+proxy://one', 'is not of the form'],
    ['redis+cluster://', 'is not of the form'],
    ['redis+cluster://one,,two', '"" is not a host'],
    ['redis+cluster://one:port', '"one:port" is not a host'],
    ['redis+cluster://one:70000', '"one:70000" is not a host'],
    ['redis+cluster://one/3', 'a Cluster has no databases'],
    ['redis+sentinel://one:26379', 'the name of the primary must follow'],
    ['redis+sentinel://one/name/three', 'only a database number'],
    ['redis+sentinel://one/name/3/4', 'only a database number'],
  ])('refuses %s', (address, fault) => {
    expect(() => parseRedisAddress(address)).toThrow(fault);
  });

  it('names no password in a fault', () => {
    expect(() => parseRedisAddress('redis+cluster://:secret@one:port')).not.toThrow('secret');
  });
});
