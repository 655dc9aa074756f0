import examples from '../../test/fixtures/ssrf-examples.json';
import { AddressPolicy, AddressRefused, EndpointUrlRefused } from './address-policy';

const strict = new AddressPolicy([]);
const guarded = new AddressPolicy(
  ['10.20.0.0/16', '64:ff9b::/96', '::ffff:0:0/96'],
  ['8.8.4.0/24', '10.20.9.0/24', '2606:4700:4700::/48'],
);
const selfHosted = new AddressPolicy(['10.20.0.0/16', 'fd00:1::/32', '127.0.0.1/32']);

describe('addresses', () => {
  it.each(examples.refuse_ip)('refuses %s', (address) => {
    expect(strict.permits(address)).toBe(false);
  });

  it.each(examples.allow_ip)('permits %s', (address) => {
    expect(strict.permits(address)).toBe(true);
  });

  // Every block of the IANA special-purpose registries, by its first and last address.
  it.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.31.196.0', '192.31.196.255'],
    ['192.52.193.0', '192.52.193.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['192.175.48.0', '192.175.48.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '239.255.255.255'],
    ['240.0.0.0', '255.255.255.255'],
    ['::', '::1'],
    ['::ffff:0.0.0.0', '::ffff:255.255.255.255'],
    ['64:ff9b::', '64:ff9b::ffff:ffff'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('refuses the special block %s to %s', (first, last) => {
    expect([first, last].filter((address) => strict.permits(address))).toEqual([]);
  });

  it.each([
    ['the cloud platform itself', '168.63.129.16'],
    ['IPv4-compatible', '::8.8.8.8'],
    ['IPv4-mapped, even of a public address', '::ffff:8.8.8.8'],
    ['IPv4-translated', '::ffff:0:8.8.8.8'],
    ['ISATAP', '2606:4700::5efe:10.0.0.1'],
    ['ISATAP with the universal bit', '2606:4700::200:5efe:a00:1'],
    ['deprecated site-local', 'fec0::1'],
    ['IPv6 outside global unicast', '4000::1'],
    ['a zone id', 'fe80::1%eth0'],
    ['a zone id on a public address', '2606:4700:4700::1111%eth0'],
    ['octal', '010.8.8.8'],
    ['a short form', '8.8'],
    ['a whole number', '134744072'],
    ['a name', 'example.com'],
    ['nothing', ''],
  ])('refuses %s', (_, address) => {
    expect(strict.permits(address)).toBe(false);
  });

  it("permits the operator's networks and nothing beside them", () => {
    for (const address of ['10.20.0.1', '10.20.255.255', 'fd00:1::5', '127.0.0.1']) {
      expect([address, selfHosted.permits(address)]).toEqual([address, true]);
      expect([address, selfHosted.isOperatorAddress(address)]).toEqual([address, true]);
    }
    for (const address of ['10.21.0.1', 'fd00:2::5', '127.0.0.2', '::ffff:10.20.0.1']) {
      expect([address, selfHosted.permits(address)]).toEqual([address, false]);
    }
    expect(selfHosted.isOperatorAddress('8.8.8.8')).toBe(false);
    expect(selfHosted.permits('8.8.8.8')).toBe(true);
  });

  it("denies the operator's denied networks, public and allowed ones too, and nothing beside them", () => {
    const denied = [
      ...['8.8.4.0', '8.8.4.255', '2606:4700:4700::', '2606:4700:4700:ffff:ffff:ffff:ffff:ffff'],
      ...['10.20.9.0', '10.20.9.255', '::ffff:10.20.9.1', '::ffff:8.8.4.4', '64:ff9b::8.8.4.4'],
    ];
    for (const address of denied) {
      expect([address, guarded.permits(address)]).toEqual([address, false]);
      expect([address, guarded.isOperatorAddress(address)]).toEqual([address, false]);
    }
    const permitted = [
      ...['8.8.3.255', '8.8.5.0', '2606:4700:46ff::1', '2606:4700:4701::', '10.20.8.255', '10.20.10.0'],
      ...['::ffff:10.20.8.1', '64:ff9b::8.8.8.8'],
    ];
    for (const address of permitted) expect([address, guarded.permits(address)]).toEqual([address, true]);
  });

  it.each([
    ...['10.0.0.0', '10.0.0.0/33', '::/129', 'example.com/8', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/8/8'],
    ...['010.0.0.0/8', '10/8', 'fe80::%eth0/64', ''],
  ])('refuses %j as a network', (cidr) => {
    expect(() => new AddressPolicy([cidr])).toThrow('CIDR');
    expect(() => new AddressPolicy([], [cidr])).toThrow('CIDR');
  });
});

describe('parseEndpointUrl', () => {
  it.each([...examples.refuse_url_literal, ...examples.refuse_url_form])('refuses %s', (url) => {
    expect(() => strict.parseEndpointUrl(url)).toThrow(EndpointUrlRefused);
  });

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://Example.COM./hooks?a=b', 'https://example.com/hooks?a=b'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com:1024/', 'https://example.com:1024/'],
    ['https://example.com:65535/', 'https://example.com:65535/'],
    ['https://bücher.example.com/ü', 'https://xn--bcher-kva.example.com/%C3%BC'],
    ['https://my_hooks.example.com/', 'https://my_hooks.example.com/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700:0::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://example.com/a b', 'https://example.com/a%20b'],
    [
      'https://example.com/می\u200cخواهم',
      'https://example.com/%D9%85%DB%8C%E2%80%8C%D8%AE%D9%88%D8%A7%D9%87%D9%85',
    ],
  ])('accepts %s', (input, href) => {
    expect(strict.parseEndpointUrl(input).href).toBe(href);
  });

  it.each([
    ...[
      '\u200b',
      '\u00a0',
      '\ufeff',
      '\u00ad',
      '\u200e',
      '\u202a',
      '\u2066',
      '\u2060',
      '\u3000',
      '\u3164',
      '\u2800',
    ],
    ...[' ', '\t', '\r\n', '\u2028', '\0', '\u007f', '\u{e0020}', ' \u200b\u00a0\n'],
  ])('takes %j off the ends (public report 26)', (unseen) => {
    for (const input of [`https://example.com/a${unseen}`, `${unseen}https://example.com/a${unseen}`])
      expect(strict.parseEndpointUrl(input).href).toBe('https://example.com/a');
  });

  it.each([
    ['\u200b', 'U+200B'],
    ['\u00a0', 'U+00A0'],
    ['\u00ad', 'U+00AD'],
    ['\ufeff', 'U+FEFF'],
    ['\u202e', 'U+202E'],
    ['\n', 'U+000A'],
    ['\t', 'U+0009'],
  ])('refuses %j inside (public report 26)', (unseen, name) => {
    for (const input of [`https://example.com/a${unseen}b`, `https://exam${unseen}ple.com/`])
      expect(() => strict.parseEndpointUrl(input)).toThrow(`a character that cannot be seen (${name})`);
  });

  it.each([
    ['', 'not a valid URL'],
    ['example.com', 'not a valid URL'],
    ['http://example.com/', 'must begin with https'],
    ['https://user@example.com/', 'user name or password'],
    ['https://:pass@example.com/', 'user name or password'],
    ['https://example.com:80/', 'Port 80 is not allowed'],
    ['https://example.com:1023/', 'Port 1023 is not allowed'],
    ['https://example.com/#top', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://10.0.0.1/', 'The address 10.0.0.1 is not a public one'],
    ['https://redis/', 'redis is a local name'],
    ['https://db.LOCALHOST./', 'db.localhost is a local name'],
    ['https://router.home.arpa/', 'local name'],
    ['https://a..example.com/', 'not a valid host name'],
    ['https://example.com../', 'not a valid host name'],
    ['https://-a.example.com/', 'not a valid host name'],
    ['https://a*b.example.com/', 'not a valid host name'],
    [`https://${'a'.repeat(64)}.example.com/`, 'not a valid host name'],
    [`https://${'a.'.repeat(127)}com/`, 'not a valid host name'],
    [`https://example.com/${'a'.repeat(2048)}`, 'longer than 2048'],
    [`https://example.com/${'ü'.repeat(600)}`, 'longer than 2048'],
  ])('tells why it refuses %s', (input, message) => {
    expect(() => strict.parseEndpointUrl(input)).toThrow(message);
  });

  it("permits local names and literals when the operator has networks, until they're resolved", () => {
    for (const url of ['https://localhost:8443/', 'https://hooks.internal/', 'https://10.20.1.1/']) {
      expect(selfHosted.parseEndpointUrl(url).href).toBe(url);
    }
    for (const url of ['http://localhost/', 'https://10.21.1.1/', 'https://localhost:22/']) {
      expect(() => selfHosted.parseEndpointUrl(url)).toThrow(EndpointUrlRefused);
    }
  });
});

describe('vet', () => {
  it('accepts a name whose every address is public', () => {
    expect(() => strict.vet('example.com', ['8.8.8.8', '2606:4700:4700::1111'])).not.toThrow();
  });

  it.each([
    ['a mixed answer', ['8.8.8.8', '10.0.0.1']],
    ['a private address carried by IPv6', ['8.8.8.8', '::ffff:169.254.169.254']],
    ['NAT64 of the metadata service', ['8.8.8.8', '64:ff9b::a9fe:a9fe']],
    ['a private IPv6 address', ['8.8.8.8', 'fd00:ec2::254']],
    ['an empty answer', []],
  ])('refuses %s whole', (_, addresses) => {
    expect(() => strict.vet('example.com', addresses)).toThrow(AddressRefused);
  });

  it("permits public names in the operator's networks too, mixed or not", () => {
    expect(() => selfHosted.vet('hooks.example.com', ['10.20.0.1', '8.8.8.8'])).not.toThrow();
    expect(() => selfHosted.vet('hooks.example.com', ['10.20.0.1', '10.21.0.1'])).toThrow(AddressRefused);
  });

  it("permits a local name only if all its addresses are in the operator's networks", () => {
    expect(() => selfHosted.vet('localhost', ['127.0.0.1'])).not.toThrow();
    expect(() => selfHosted.vet('hooks.internal', ['10.20.0.1', 'fd00:1::1'])).not.toThrow();
    expect(() => selfHosted.vet('hooks.internal', ['8.8.8.8'])).toThrow(AddressRefused);
    expect(() => selfHosted.vet('redis', ['10.20.0.1', '8.8.8.8'])).toThrow(AddressRefused);
  });

  it('refuses a name, and a literal, that lead to a denied network', () => {
    expect(() => guarded.vet('hooks.example.com', ['8.8.8.8', '8.8.4.4'])).toThrow(
      'hooks.example.com resolves to an address that is not allowed',
    );
    expect(() => guarded.vet('hooks.internal', ['10.20.0.1', '10.20.9.1'])).toThrow(AddressRefused);
    expect(() => guarded.vet('8.8.4.4', ['8.8.4.4'])).toThrow('The address 8.8.4.4 is not allowed');
    expect(() => guarded.parseEndpointUrl('https://8.8.4.4/')).toThrow('The address 8.8.4.4 is not allowed');
    expect(() => guarded.parseEndpointUrl('https://[2606:4700:4700::1111]/')).toThrow(EndpointUrlRefused);
  });

  it('vets a literal as an address', () => {
    expect(() => strict.vet('2606:4700:4700::1111', ['2606:4700:4700::1111'])).not.toThrow();
    expect(() => strict.vet('::1', ['::1'])).toThrow('The address ::1 is not a public one');
  });

  it('does not reveal the address of a name', () => {
    expect(() => strict.vet('vault.example.com', ['10.9.8.7'])).toThrow(
      expect.objectContaining({ message: 'vault.example.com resolves to an address that is not public' }),
    );
  });
});
