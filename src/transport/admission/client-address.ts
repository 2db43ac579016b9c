import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress, type TrustedProxies } from '../../config/trusted-proxies.js';

/** Most entries of `X-Forwarded-For` that are read: one per proxy, so a few are enough. */
const MAX_HOPS = 16;

/**
 * The address of the client of a request: that of the connection, or the one in `X-Forwarded-For` as far as
 * the proxies are trusted. The header is read from its end, where each proxy appends the address it was
 * called from; entries before the first untrusted address are set by the client.
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
 * The key under which callers of an address are counted: the address, or the first 64 bits for IPv6, because
 * a single client can use every address below them.
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
