import { describe, expect, it } from 'vitest';
import { embeddedIpv4, isAddress, isPrivate } from '../../../src/contract/input/host-address.js';

describe('a host, as URL prints it', () => {
  it.each([
    ['example.com', false, false],
    ['local.example.com', false, false],
    ['localhost', false, true],
    ['db.internal', false, true],
    ['93.184.216.34', true, false],
    ['10.1.2.3', true, true],
    ['169.254.169.254', true, true],
    ['[2606:2800::1]', true, false],
    ['[::1]', true, true],
    ['[fe80::1]', true, true],
    ['[::ffff:a00:1]', true, true],
    ['[::ffff:5db8:d822]', true, false],
  ])('%s: an address %s, of no public network %s', (host, address, isOfNone) => {
    expect([isAddress(host), isPrivate(host)]).toEqual([address, isOfNone]);
  });

  it.each([
    ['[::ffff:a00:1]', '10.0.0.1'],
    ['[64:ff9b::7f00:1]', '127.0.0.1'],
    ['[2002:a00:1::]', '10.0.0.1'],
    ['[2606:2800::1]', null],
    ['example.com', null],
  ])('%s stands for the address %s of IPv4', (host, address) => {
    expect(embeddedIpv4(host)).toBe(address);
  });
});
