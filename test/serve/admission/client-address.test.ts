import { describe, expect, it } from 'vitest';
import { isTrustableNetwork, trustedProxies } from '../../../src/contract/config/trusted-proxies.js';
import { addressGroup, clientAddress } from '../../../src/serve/admission/client-address.js';

describe('the address of a client', () => {
  const behind = (proxies: string[], connection: string, forwarded?: string | string[]) =>
    clientAddress(connection, forwarded, trustedProxies(proxies));

  it('is that of the connection, whatever the client sends, unless a proxy is trusted', () => {
    expect(behind([], '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
    expect(behind(['10.0.0.0/8'], '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
    expect(behind(['10.0.0.0/8'], '10.1.2.3')).toBe('10.1.2.3');
  });

  it('is the last address before the trusted proxies', () => {
    expect(behind(['10.0.0.0/8'], '10.1.2.3', '198.51.100.7')).toBe('198.51.100.7');
    expect(behind(['10.0.0.0/8'], '10.1.2.3', '203.0.113.1, 198.51.100.7, 10.9.9.9')).toBe('198.51.100.7');
    expect(behind(['10.0.0.0/8'], '10.1.2.3', ['203.0.113.1', '198.51.100.7'])).toBe('198.51.100.7');
    expect(behind(['loopback'], '::ffff:127.0.0.1', '2001:db8::1')).toBe('2001:db8::1');
    expect(behind(['private'], 'fd00::1', '10.0.0.1')).toBe('10.0.0.1');
  });

  it.each([
    ['198.51.100.7:4711', '198.51.100.7'],
    ['"198.51.100.7:4711"', '198.51.100.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[198.51.100.7]', '198.51.100.7'],
    ['"[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['[::ffff:198.51.100.7]:80', '::ffff:198.51.100.7'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
    ['2001:db8::1%eth0', '2001:db8::1'],
    ['198.51.100.7:_hidden', '198.51.100.7'],
    ['198.51.100.7,', '198.51.100.7'],
    ['198.51.100.7, , 10.9.9.9:80,,', '198.51.100.7'],
    ['  198.51.100.7 ,10.9.9.9', '198.51.100.7'],
  ])('is read from %j', (forwarded, address) => {
    expect(behind(['10.0.0.0/8'], '10.1.2.3', forwarded)).toBe(address);
  });

  it.each([
    'unknown',
    '_hidden',
    '198.51.100.7:',
    '198.51.100.7:x',
    '198.51.100',
    '[2001:db8::1',
    'for=1.2.3.4',
  ])('is not read from %j', (forwarded) => {
    expect(behind(['10.0.0.0/8'], '10.1.2.3', forwarded)).toBe('10.1.2.3');
  });

  it('does not go beyond what is no address', () => {
    expect(behind(['10.0.0.0/8'], '10.1.2.3', '198.51.100.7, unknown')).toBe('10.1.2.3');
    expect(behind(['10.0.0.0/8'], '10.1.2.3', '198.51.100.7, nonsense, 10.9.9.9')).toBe('10.9.9.9');
    expect(behind(['10.0.0.0/8'], '10.1.2.3', '')).toBe('10.1.2.3');
  });

  it.each([
    ['10.0.0.0/8', true],
    ['192.0.2.1', true],
    ['2001:db8::/32', true],
    ['::1', true],
    ['loopback', true],
    ['Private', true],
    ['10.0.0.0/33', false],
    ['10.0.0/8', false],
    ['2001:db8::/129', false],
    ['10.0.0.0/', false],
    ['everyone', false],
    ['', false],
  ])('names a network by %j: %s', (entry, isOne) => {
    expect(isTrustableNetwork(entry)).toBe(isOne);
  });
});

describe('addresses of one client', () => {
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8::1', '2001:db8:0:0:5::', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['1:2::4:5:6:7:8', '1:2:0:4::', true],
    ['::1', '::2', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['::ffff:192.0.2.1', '::1', false],
  ])('%s and %s: %s', (first, second, same) => {
    expect(addressGroup(first) === addressGroup(second)).toBe(same);
  });
});
