import { isIPv6 } from 'node:net';

/** Refused logins that are taken in one window, from one client and from all together. */
const MAX_PER_CLIENT = 10;
const MAX_IN_ALL = 100;
const WINDOW_MS = 60_000;

/** Slows down whoever guesses keys. Only refused logins count: who has a key may log in as often as they like. */
export interface LoginThrottle {
  /** Seconds a client has to wait before its next attempt; 0 when it may try. */
  secondsToWait(address: string): number;
  refused(address: string): void;
}

/** Counts in windows, each opened by the first refusal. `now` is in milliseconds and never goes back. */
export function createLoginThrottle(now: () => number): LoginThrottle {
  // Never more entries than MAX_IN_ALL: nothing is counted any more once that many were refused.
  const refusals = new Map<string, number>();
  let inAll = 0;
  let endsAt = 0;

  function enter(): number {
    const time = now();
    if (time >= endsAt) {
      refusals.clear();
      inAll = 0;
    }
    return time;
  }

  return {
    secondsToWait(address) {
      const time = enter();
      const full = inAll >= MAX_IN_ALL || (refusals.get(clientOf(address)) ?? 0) >= MAX_PER_CLIENT;
      return full ? Math.ceil((endsAt - time) / 1000) : 0;
    },
    refused(address) {
      const time = enter();
      if (inAll === 0) endsAt = time + WINDOW_MS;
      const client = clientOf(address);
      refusals.set(client, (refusals.get(client) ?? 0) + 1);
      inAll += 1;
    },
  };
}

/** What an address is counted by: of IPv6 the first 64 bits, because a single client has all the others to choose. */
function clientOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(mapped)) return mapped;
  const [head = '', tail = ''] = mapped.split('::');
  const first = head.split(':').filter((group) => group !== '');
  const last = tail.split(':').filter((group) => group !== '');
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}
