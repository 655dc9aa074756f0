import { clientNetworkOf, networkOf, networksOf } from './client-network';

describe('the network of a client', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['not an address', 'not an address'],
  ])('of %s is %s', (address, network) => expect(networkOf(address)).toBe(network));

  it.each([
    ['198.51.100.7', ['198.51.100.7']],
    ['2001:db8:1:2f3:3:4:5:6', ['2001:db8:1:2f3::/64', '2001:db8:1:200::/56', '2001:db8:1::/48']],
  ])('of %s may be one of %j', (address, networks) => expect(networksOf(address)).toEqual(networks));

  it('is unknown without an address', () => expect(clientNetworkOf({ ip: undefined })).toBe('unknown'));
});
