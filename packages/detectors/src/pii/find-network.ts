import { isIPv6 } from 'node:net';
import { IP_ADDRESS, MAC_ADDRESS } from './kinds/kinds.js';
import type { PiiSearch } from './pii-search.js';
import { classOf, isDigitUnit, isHexUnit, OTHER } from './text-units.js';

const [FULL = 0, USUAL = 0, INTERNAL = 0, SPECIAL_USE = 0] = IP_ADDRESS.scores;
const [MAC = 0] = MAC_ADDRESS.scores;
const DOT = 46;
const COLON = 58;
/** Longest IPv6 address, with an IPv4 address at its end. */
const MAX_IPV6 = 45;
const MAC_LENGTH = 17;

/** Reports the IPv4 address that begins with the digits at `start`. Returns where it ends, or `start`. */
export function findIpv4(search: PiiSearch, start: number): number {
  const { text } = search;
  const octets: number[] = [];
  let at = start;
  for (;;) {
    const first = at;
    let octet = 0;
    while (at - first < 4 && isDigitUnit(text.charCodeAt(at))) {
      octet = octet * 10 + text.charCodeAt(at) - 48;
      at += 1;
    }
    if (at === first || octet > 255 || (at - first > 1 && text.charCodeAt(first) === 48)) return start;
    octets.push(octet);
    if (octets.length === 4) break;
    if (text.charCodeAt(at) !== DOT) return start;
    at += 1;
  }
  if (classOf(text.charCodeAt(at)) !== OTHER) return start;
  // A version behind a name, and one with more parts: `Chrome/120.0.0.0`.
  const before = text.charCodeAt(start - 1);
  const isVersion = before === 47 && classOf(text.charCodeAt(start - 2)) !== OTHER;
  const score = isVersion || isSmall(octets) ? SPECIAL_USE : scoreOf(octets);
  search.add(start, at, [{ kind: IP_ADDRESS.name, score }]);
  return at;
}

/** Four small numbers are more likely a version: `1.2.3.4`, `10.15.7.2`. */
function isSmall(octets: readonly number[]): boolean {
  return octets.every((octet) => octet < 32);
}

function scoreOf([first = 0, second = 0]: readonly number[]): number {
  if (first === 0 || first === 127 || first >= 224) return SPECIAL_USE;
  const isPrivate =
    first === 10 || (first === 172 && second >= 16 && second < 32) || (first === 192 && second === 168);
  return isPrivate || (first === 169 && second === 254) ? INTERNAL : USUAL;
}

/** Reports the hardware address or IPv6 address that begins at `start`. Returns where what was looked at ends. */
export function findColonAddress(search: PiiSearch, start: number): number {
  const { text } = search;
  let end = start;
  let colons = 0;
  let digits = 0;
  for (; end < text.length && end - start <= MAX_IPV6; end += 1) {
    const unit = text.charCodeAt(end);
    if (unit === COLON) colons += 1;
    else if (isDigitUnit(unit)) digits += 1;
    else if (!isHexUnit(unit) && unit !== DOT) break;
  }
  if (end - start > MAX_IPV6) return end;
  const whole = end;
  while (
    end > start &&
    (text.charCodeAt(end - 1) === DOT ||
      (text.charCodeAt(end - 1) === COLON && text.charCodeAt(end - 2) !== COLON))
  ) {
    end -= 1;
  }
  if (colons < 2 || classOf(text.charCodeAt(end)) !== OTHER) return whole;
  search.spend(end - start);
  if (isMac(text, start, end)) search.add(start, end, [{ kind: MAC_ADDRESS.name, score: MAC }]);
  else {
    const address = text.slice(start, end);
    if (!isIPv6(address)) return whole;
    search.add(start, end, [
      { kind: IP_ADDRESS.name, score: scoreOfIpv6(address.toLowerCase(), colons, digits) },
    ]);
  }
  return whole;
}

/** `a::b` may be a name in a program: without several groups or digits it is doubtful. */
function scoreOfIpv6(address: string, colons: number, digits: number): number {
  if (address === '::1' || address === '::') return SPECIAL_USE;
  if (colons < 4 && digits < 4) return INTERNAL;
  return /^f[cd]|^fe[89ab]/.test(address) ? INTERNAL : FULL;
}

/** Six pairs of hexadecimal digits with one sign between them, `:` or `-`. */
function isMac(text: string, start: number, end: number): boolean {
  if (end - start !== MAC_LENGTH) return false;
  const sign = text.charCodeAt(start + 2);
  for (let at = start; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    if ((at - start) % 3 === 2 ? unit !== sign : !isHexUnit(unit)) return false;
  }
  return true;
}

/** Reports the hardware address with hyphens that begins at `start`. */
export function findDashedMac(search: PiiSearch, start: number): void {
  const { text } = search;
  const end = start + MAC_LENGTH;
  if (end > text.length || classOf(text.charCodeAt(end)) !== OTHER || !isMac(text, start, end)) return;
  search.add(start, end, [{ kind: MAC_ADDRESS.name, score: MAC }]);
}
