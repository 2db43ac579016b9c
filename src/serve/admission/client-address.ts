import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress, type TrustedProxies } from '../../contract/config/trusted-proxies.js';

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
    // Some proxies end the list with a comma, and those of the connection itself say nothing.
    if (next === '') continue;
    const read = hopAddress(next);
    if (read === undefined) break;
    address = read;
    if (!proxies.trusts(read)) break;
  }
  return address;
}

const PORT = String.raw`(?::(?:\d{1,5}|_[\w.-]{1,64}))?`;
const WITH_PORT = new RegExp(
  String.raw`^"?(?:\[([0-9a-f:.]+)(?:%[\w.-]+)?\]|(\d+\.\d+\.\d+\.\d+))${PORT}"?$`,
  'i',
);

/**
 * The address of an entry as proxies write it: alone; with a port behind it; IPv6 in brackets, or with a zone; in quotes
 * (RFC 7239, section 6, whose nodes large proxies put into `X-Forwarded-For` too). Undefined if it is none.
 */
function hopAddress(written: string): string | undefined {
  const [, v6, v4] = WITH_PORT.exec(written) ?? [];
  const address = v6 ?? v4 ?? written.replace(/%[\w.-]+$/, '');
  return isIPv4(address) || isIPv6(address) ? address : undefined;
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
