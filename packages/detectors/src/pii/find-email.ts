import { EMAIL } from './kinds/kinds.js';
import type { PiiSearch } from './pii-search.js';
import { classOf, OTHER } from './text-units.js';

/** Limits of RFC 5321 4.5.3.1, in units. */
const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
/** Units besides letters and digits of an atom (RFC 5322 3.2.3), and the dot. */
const LOCAL_SIGNS = new Set([..."!#$%&'*+-/=?^_`{|}~."].map((sign) => sign.charCodeAt(0)));
const DOT = 46;
const DASH = 45;
/** Last labels that are no domains but endings of files: `icon@2x.png`. */
const FILE_ENDINGS = new Set([
  'png',
  'jpg',
  'jpeg',
  'gif',
  'svg',
  'webp',
  'avif',
  'css',
  'js',
  'json',
  'html',
  'xml',
  'txt',
]);

const [USUAL = 0, DOUBTFUL = 0] = EMAIL.scores;

/** Reports the address around an `@`. Reads no further than the limits of its parts. Returns where it ends. */
export function findEmail(search: PiiSearch, at: number): number {
  const { text } = search;
  let start = at;
  while (start > 0 && at - start < MAX_LOCAL + 1 && isLocal(text.charCodeAt(start - 1))) start -= 1;
  if (at - start > MAX_LOCAL) return at + 1;
  // Signs that lead are part of the text around it: quotes, slashes of addresses, assignments.
  start = afterSigns(text, start, at);
  let end = at + 1;
  while (end < text.length && end - at <= MAX_DOMAIN && isDomain(text.charCodeAt(end))) end += 1;
  while (end > at + 1 && !isLetterOrDigit(text.charCodeAt(end - 1))) end -= 1;
  search.spend((end - start) / 8);
  if (start === at || text.charCodeAt(at - 1) === DOT || text.slice(start, at).includes('..')) return at + 1;
  if (!isDomainName(text.slice(at + 1, end))) return at + 1;
  search.add(
    start,
    end,
    [{ kind: EMAIL.name, score: isDoubtful(text, start, end) ? DOUBTFUL : USUAL }],
    false,
  );
  return end;
}

/** Local parts may begin with these signs, but a text around the address is more likely to end with them. */
function afterSigns(text: string, start: number, at: number): number {
  let first = start;
  for (let place = start; place < at; place += 1) {
    const unit = text.charCodeAt(place);
    // Whatever precedes the last `=`, `/`, `'`, `` ` `` or `|` is text: `?to=ann@example.com`.
    if (
      unit === 61 ||
      unit === 47 ||
      unit === 39 ||
      unit === 96 ||
      unit === 124 ||
      unit === 63 ||
      unit === 38
    ) {
      first = place + 1;
    }
  }
  while (first < at && !isLetterOrDigit(text.charCodeAt(first)) && text.charCodeAt(first) !== 95) first += 1;
  return first;
}

function isLocal(unit: number): boolean {
  return isLetterOrDigit(unit) || LOCAL_SIGNS.has(unit);
}

function isDomain(unit: number): boolean {
  return unit === DOT || unit === DASH || isLetterOrDigit(unit);
}

/** Letters beyond ASCII are those of internationalised addresses (RFC 6531); punctuation there is none. */
function isLetterOrDigit(unit: number): boolean {
  if (unit < 128) return classOf(unit) !== OTHER;
  return (
    unit >= 0xc0 && (unit < 0x2000 || unit > 0x206f) && (unit < 0x3000 || unit > 0x303f) && unit < 0xfe00
  );
}

/** At least two labels; the last one has no digits, or is one of Punycode. */
function isDomainName(domain: string): boolean {
  const labels = domain.split('.');
  const last = (labels.at(-1) ?? '').toLowerCase();
  if (labels.length < 2 || last.length < 2 || FILE_ENDINGS.has(last)) return false;
  if (!last.startsWith('xn--') && /[\d-]/.test(last)) return false;
  return labels.every(
    (label) => label.length > 0 && label.length <= MAX_LABEL && label.at(0) !== '-' && label.at(-1) !== '-',
  );
}

/** `git@host:path` of SSH, and the user in front of a host: `https://user:password@host`. */
function isDoubtful(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 80), start);
  if (/:\/\/[^\s/]{0,76}$/.test(before)) return true;
  return text[end] === ':' && /[A-Za-z~/]/.test(text[end + 1] ?? '');
}
