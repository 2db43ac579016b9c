import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress, type TrustedProxies } from '../../config/trusted-proxies.js';

/** Entries of `X-Forwarded-For` that are read at most: one for each proxy on the way, so a few. */
const MAX_HOPS = 16;

/**
 * The address of the client of a request: that of the connection, or, as far as the proxies on the way are trusted, the
 * one that `X-Forwarded-For` names. The header is read from its end, where each proxy adds the address it was called
 * from; what stands before the first address that is not trusted is the client's own word.
 */
export function clientAddress(
  connectionAddress: string,
  forwardedFor: string | readonly string[] | undefined,
  proxies: TrustedProxies,
): string {
  if (forwardedFor === undefined || !proxies.trusts(connectionAddress)) return connectionAddress;
  const text = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
  const hops = text.split(',').slice(-MAX_HOPS);
  let address = connectionAddress;
  for (const hop of hops.reverse()) {
    const next = hop.trim();
    if (!isIPv4(next) && !isIPv6(next)) break;
    address = next;
    if (!proxies.trusts(next)) break;
  }
  return address;
}

/**
 * What callers of an address are counted by: the address, and of IPv6 its first 64 bits, because a single client has
 * all addresses below them to choose from.
 */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const first = head.split(':').filter((group) => group !== '');
  const last = tail.split(':').filter((group) => group !== '');
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}
