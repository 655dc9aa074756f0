import fc from 'fast-check';
import { AddressPolicy, AddressRefused, EndpointUrlRefused } from './address-policy';

/**
 * The IANA registries of special-purpose addresses (RFC 6890 and later), multicast (RFC 5771, 4291) and IPv6
 * address space (RFC 4291, 3879), independent of the policy's library: a prefix of 4 or 16 bytes in
 * hexadecimal, and its length in bits.
 */
const SPECIAL_IPV4: [prefix: string, bits: number, what: string][] = [
  ['00000000', 8, 'this network (RFC 791)'],
  ['0a000000', 8, 'private use (RFC 1918)'],
  ['64400000', 10, 'shared address space (RFC 6598)'],
  ['7f000000', 8, 'loopback (RFC 1122)'],
  ['a9fe0000', 16, 'link local (RFC 3927)'],
  ['ac100000', 12, 'private use (RFC 1918)'],
  ['c0000000', 24, 'IETF protocol assignments (RFC 6890)'],
  ['c0000200', 24, 'TEST-NET-1 (RFC 5737)'],
  ['c01fc400', 24, 'AS112-v4 (RFC 7535)'],
  ['c034c100', 24, 'AMT (RFC 7450)'],
  ['c0586300', 24, '6to4 relay anycast, deprecated (RFC 7526)'],
  ['c0a80000', 16, 'private use (RFC 1918)'],
  ['c0af3000', 24, 'direct delegation AS112 service (RFC 7534)'],
  ['c6120000', 15, 'benchmarking (RFC 2544)'],
  ['c6336400', 24, 'TEST-NET-2 (RFC 5737)'],
  ['cb007100', 24, 'TEST-NET-3 (RFC 5737)'],
  ['e0000000', 4, 'multicast (RFC 5771)'],
  ['f0000000', 4, 'reserved, and limited broadcast (RFC 1112, 8190)'],
  ['a83f8110', 32, "the cloud platform's own (no registry lists it)"],
];

const SPECIAL_IPV6: [prefix: string, bits: number, what: string][] = [
  [
    '20010000000000000000000000000000',
    23,
    'IETF protocol assignments, Teredo and ORCHID among them (RFC 2928)',
  ],
  ['20010db8000000000000000000000000', 32, 'documentation (RFC 3849)'],
  ['20020000000000000000000000000000', 16, '6to4 (RFC 3056)'],
  ['2620004f800000000000000000000000', 48, 'direct delegation AS112 service (RFC 7534)'],
  ['3fff0000000000000000000000000000', 20, 'documentation (RFC 9637)'],
];
/** The only public IPv6 space (RFC 4291). */
const GLOBAL_UNICAST: [string, number] = ['20000000000000000000000000000000', 3];

const strict = new AddressPolicy([]);

function isWithin(address: Buffer, [prefix, bits]: readonly [string, number, ...unknown[]]): boolean {
  const binary = (bytes: Buffer) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return binary(address).startsWith(binary(Buffer.from(prefix, 'hex')).slice(0, bits));
}

function isPublic(address: Buffer): boolean {
  if (address.length === 4) return !SPECIAL_IPV4.some((block) => isWithin(address, block));
  // ISATAP (RFC 5214): 0000:5efe or 0200:5efe before an IPv4 address.
  const isIsatap = /^0[02]005efe$/.test(address.toString('hex', 8, 12));
  return (
    isWithin(address, GLOBAL_UNICAST) && !isIsatap && !SPECIAL_IPV6.some((block) => isWithin(address, block))
  );
}

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));

function inBlock([prefix, bits]: readonly [string, number, ...unknown[]]): fc.Arbitrary<Buffer> {
  const fixed = Buffer.from(prefix, 'hex');
  return bytes(fixed.length).map((any) => {
    const address = Buffer.from(fixed);
    for (let bit = bits; bit < fixed.length * 8; bit++)
      address[bit >> 3]! |= any[bit >> 3]! & (0x80 >> (bit & 7));
    return address;
  });
}

/** Returns the address with all bits after the first `bits` set to zero. */
function masked(address: Buffer, bits: number): Buffer {
  const number = BigInt(`0x${address.toString('hex')}`);
  const rest = BigInt(address.length * 8 - bits);
  return Buffer.from(((number >> rest) << rest).toString(16).padStart(address.length * 2, '0'), 'hex');
}

/**
 * Generates the last address before a block or the first one after it, which an off-by-one error would judge
 * wrongly.
 */
function besideBlock([prefix, bits]: readonly [string, number, ...unknown[]]): fc.Arbitrary<Buffer> {
  const length = prefix.length / 2;
  const modulus = 1n << BigInt(length * 8);
  const first = BigInt(`0x${prefix}`);
  const after = first + (1n << BigInt(length * 8 - bits));
  return fc
    .constantFrom(first - 1n, after)
    .map((number) =>
      Buffer.from(((number + modulus) % modulus).toString(16).padStart(length * 2, '0'), 'hex'),
    );
}

const ipv4 = fc.oneof(
  bytes(4),
  fc.constantFrom(...SPECIAL_IPV4).chain((block) => fc.oneof(inBlock(block), besideBlock(block))),
);
const specialIpv4 = fc.constantFrom(...SPECIAL_IPV4).chain(inBlock);
const publicIpv4 = bytes(4).filter(isPublic);

const ipv6 = fc.oneof(
  bytes(16),
  inBlock(GLOBAL_UNICAST),
  fc
    .constantFrom(...SPECIAL_IPV6, GLOBAL_UNICAST)
    .chain((block) => fc.oneof(inBlock(block), besideBlock(block))),
);
const publicIpv6 = inBlock(GLOBAL_UNICAST).filter(isPublic);

/**
 * Generates every spelling of an IPv4 address that inet_aton, and so a URL parser, accepts (RFC 6943, section
 * 3.1.1).
 */
function ipv4Spellings(address: Buffer): fc.Arbitrary<string> {
  const partsOf = {
    1: () => [address.readUInt32BE()],
    2: () => [address[0]!, address.readUIntBE(1, 3)],
    3: () => [address[0]!, address[1]!, address.readUInt16BE(2)],
    4: () => [...address],
  };
  const spelling = (part: number) =>
    fc
      .tuple(fc.constantFrom('decimal', 'octal', 'hex', 'HEX'), fc.integer({ min: 0, max: 3 }))
      .map(([base, zeros]) => {
        const padding = '0'.repeat(zeros);
        if (base === 'octal') return `0${padding}${part.toString(8)}`;
        if (base === 'hex') return `0x${padding}${part.toString(16)}`;
        if (base === 'HEX') return `0X${padding}${part.toString(16).toUpperCase()}`;
        return String(part);
      });
  return fc
    .constantFrom<keyof typeof partsOf>(1, 2, 3, 4)
    .chain((count) => fc.tuple(...partsOf[count]().map(spelling)))
    .chain((parts) => fc.constantFrom('', '.').map((dot) => parts.join('.') + dot));
}

/** Generates spellings of an IPv6 address: in full, shortened, with an IPv4 tail, in either case. */
function ipv6Spellings(address: Buffer): fc.Arbitrary<string> {
  const groups = Array.from({ length: 8 }, (_, i) => address.readUInt16BE(i * 2));
  return fc
    .record({
      padded: fc.boolean(),
      upper: fc.boolean(),
      dotted: fc.boolean(),
      run: fc.constantFrom(null, ...zeroRuns(groups)),
    })
    .map(({ padded, upper, dotted, run }) => {
      const texts = groups.map((group) => group.toString(16).padStart(padded ? 4 : 1, '0'));
      // The run ends before an IPv4 tail.
      const isDotted = dotted && (run === null || run.end <= 6);
      const tail = isDotted ? [[...address.subarray(12)].join('.')] : texts.slice(6);
      const all = [...texts.slice(0, 6), ...tail];
      const text = run
        ? `${all.slice(0, run.start).join(':')}::${all.slice(run.end).join(':')}`
        : all.join(':');
      return upper ? text.toUpperCase() : text;
    });
}

function zeroRuns(groups: number[]): { start: number; end: number }[] {
  return groups.flatMap((_, start) =>
    groups
      .map((__, index) => ({ start, end: index + 1 }))
      .filter(({ end }) => end > start && groups.slice(start, end).every((group) => group === 0)),
  );
}

const standardIpv4 = (address: Buffer) => [...address].join('.');
const standardIpv6 = (address: Buffer) => address.toString('hex').match(/.{4}/g)!.join(':');

const carriers: Record<string, (carried: Buffer, rest: Buffer) => Buffer> = {
  'IPv4-mapped (RFC 4291)': (v4) => Buffer.concat([Buffer.alloc(10), Buffer.of(0xff, 0xff), v4]),
  'IPv4-compatible (RFC 4291)': (v4) => Buffer.concat([Buffer.alloc(12), v4]),
  'IPv4-translated (RFC 2765)': (v4) => Buffer.concat([Buffer.alloc(8), Buffer.of(0xff, 0xff, 0, 0), v4]),
  'NAT64 (RFC 6052)': (v4) => Buffer.concat([Buffer.from('0064ff9b', 'hex'), Buffer.alloc(8), v4]),
  'local NAT64 (RFC 8215)': (v4, rest) =>
    Buffer.concat([Buffer.from('0064ff9b0001', 'hex'), rest.subarray(0, 6), v4]),
  '6to4 (RFC 3056)': (v4, rest) => Buffer.concat([Buffer.of(0x20, 0x02), v4, rest.subarray(0, 10)]),
  'Teredo (RFC 4380)': (v4, rest) =>
    Buffer.concat([Buffer.from('20010000', 'hex'), rest.subarray(0, 8), v4.map((byte) => byte ^ 0xff)]),
  'ISATAP (RFC 5214)': (v4, rest) =>
    Buffer.concat([Buffer.of(0x26, 0x06), rest.subarray(0, 6), Buffer.from('00005efe', 'hex'), v4]),
  'ISATAP of a public address (RFC 5214)': (v4, rest) =>
    Buffer.concat([Buffer.of(0x26, 0x06), rest.subarray(0, 6), Buffer.from('02005efe', 'hex'), v4]),
};

function isAccepted(host: string): boolean {
  try {
    strict.parseEndpointUrl(`https://${host}/hook`);
    return true;
  } catch (error) {
    if (error instanceof EndpointUrlRefused) return false;
    throw error;
  }
}

function isVetted(hostname: string, addresses: string[]): boolean {
  try {
    strict.vet(hostname, addresses);
    return true;
  } catch (error) {
    if (error instanceof AddressRefused) return false;
    throw error;
  }
}

const many = { numRuns: 2_000 };

describe('the policy, against the registries', () => {
  it('permits an IPv4 address exactly if no registry has it', () => {
    fc.assert(
      fc.property(ipv4, (address) => strict.permits(standardIpv4(address)) === isPublic(address)),
      many,
    );
  });

  it('permits an IPv6 address exactly if it is global unicast and no registry has it', () => {
    fc.assert(
      fc.property(ipv6, (address) => strict.permits(standardIpv6(address)) === isPublic(address)),
      many,
    );
  });

  it.each([...SPECIAL_IPV4, ...SPECIAL_IPV6].map((block) => [block[2], block] as const))(
    'permits nothing of %s, to the last bit',
    (_, block) => {
      const standard = block[0].length === 8 ? standardIpv4 : standardIpv6;
      fc.assert(fc.property(inBlock(block), (address) => !strict.permits(standard(address))));
    },
  );
});

describe("the operator's denied networks", () => {
  it('are above everything, of every size', () => {
    const denied = fc.oneof(publicIpv4, specialIpv4).chain((address) =>
      fc.integer({ min: 0, max: 32 }).chain((bits) => {
        const block = [address.toString('hex'), bits] as const;
        const cidr = `${standardIpv4(address)}/${bits}`;
        const first = masked(address, bits);
        return inBlock([first.toString('hex'), bits]).map((inside) => ({ cidr, block, inside }));
      }),
    );
    fc.assert(
      fc.property(denied, ipv4, ({ cidr, block, inside }, other) => {
        const policy = new AddressPolicy(['0.0.0.0/0', '::/0'], [cidr]);
        expect(policy.permits(standardIpv4(inside))).toBe(false);
        expect(policy.permits(standardIpv4(other))).toBe(!isWithin(other, block));
        for (const carrier of ['IPv4-mapped (RFC 4291)', 'NAT64 (RFC 6052)'])
          expect(policy.permits(standardIpv6(carriers[carrier]!(inside, Buffer.alloc(16))))).toBe(false);
      }),
      many,
    );
  });
});

describe('a URL', () => {
  it('with a private IPv4 address is refused, however it is written', () => {
    const spelled = specialIpv4.chain(ipv4Spellings);
    fc.assert(
      fc.property(spelled, (host) => !isAccepted(host)),
      many,
    );
  });

  it('with a public IPv4 address is accepted, however it is written, as that very address', () => {
    const spelled = publicIpv4.chain((address) =>
      ipv4Spellings(address).map((host) => [host, standardIpv4(address)] as const),
    );
    fc.assert(
      fc.property(spelled, ([host, standard]) => {
        expect(strict.parseEndpointUrl(`https://${host}/hook`).hostname).toBe(standard);
      }),
      many,
    );
  });

  it('with percent-encoded or full-width digits is decoded first', () => {
    const disguises: ((text: string) => string)[] = [
      (text) => text.replace(/\d/g, (digit) => `%3${digit}`),
      (text) => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
      (text) => text.replaceAll('.', '。'),
      (text) => text.replaceAll('.', '．'),
    ];
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...disguises), (address, disguise) => {
        expect(isAccepted(disguise(standardIpv4(address)))).toBe(isPublic(address));
      }),
      many,
    );
  });

  it('with an IPv6 address is accepted exactly if the address is public, however it is written', () => {
    const spelled = ipv6.chain((address) =>
      ipv6Spellings(address).map((text) => [`[${text}]`, isPublic(address)] as const),
    );
    fc.assert(
      fc.property(spelled, ([host, expected]) => {
        expect({ host, accepted: isAccepted(host) }).toEqual({ host, accepted: expected });
      }),
      many,
    );
  });

  it.each(Object.entries(carriers))('with %s is refused, whatever IPv4 address is in it', (_, carry) => {
    const carried = fc
      .tuple(fc.oneof(specialIpv4, publicIpv4), bytes(16))
      .map(([v4, rest]) => carry(v4, rest))
      .chain((address) => fc.tuple(fc.constant(standardIpv6(address)), ipv6Spellings(address)));
    fc.assert(
      fc.property(
        carried,
        ([standard, spelling]) => !strict.permits(standard) && !isAccepted(`[${spelling}]`),
      ),
    );
  });

  it('never has a zone id', () => {
    fc.assert(
      fc.property(publicIpv6, fc.constantFrom('%eth0', '%25eth0', '%'), (address, zone) => {
        expect(isAccepted(`[${standardIpv6(address)}${zone}]`)).toBe(false);
        expect(strict.permits(`${standardIpv6(address)}${zone}`)).toBe(false);
      }),
    );
  });
});

describe('an address in a non-standard spelling', () => {
  it('is never permitted: another library may read it differently', () => {
    const odd = ipv4
      .chain((address) => ipv4Spellings(address).map((text) => [text, standardIpv4(address)] as const))
      .filter(([text, standard]) => text !== standard);
    fc.assert(
      fc.property(odd, ([text]) => !strict.permits(text)),
      many,
    );
  });
});

describe('the answer of a name server', () => {
  const publicAddress = fc.oneof(publicIpv4.map(standardIpv4), publicIpv6.map(standardIpv6));
  const refused = fc.oneof(
    specialIpv4.map(standardIpv4),
    fc
      .constantFrom(...SPECIAL_IPV6)
      .chain(inBlock)
      .map(standardIpv6),
  );

  it('is accepted if every address in it is public', () => {
    const answer = fc.array(publicAddress, { minLength: 1, maxLength: 8 });
    fc.assert(fc.property(answer, (addresses) => isVetted('hooks.example.com', addresses)));
  });

  it('is refused for one address that is not, wherever it stands', () => {
    const mixed = fc
      .tuple(fc.array(publicAddress, { maxLength: 8 }), refused, fc.nat())
      .map(([addresses, one, at]) => addresses.toSpliced(at % (addresses.length + 1), 0, one));
    fc.assert(fc.property(mixed, (addresses) => !isVetted('hooks.example.com', addresses)));
  });
});
