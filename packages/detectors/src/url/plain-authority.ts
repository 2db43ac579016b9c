import { domainToASCII, domainToUnicode } from 'node:url';
import { MAX_URL_LENGTH, type UrlCandidate } from './find-urls.js';

/**
 * The authorities that every client reads alike: two slashes; a user of unreserved characters; a name of letters, digits,
 * `-`, `_` and single dots, an IPv4 address in four decimal numbers, or an IPv6 address in brackets; a port in digits; and
 * then `/`, `?`, `#` or the end. WHATWG URL, RFC 3986, curl, wget, Python and Go differ on most of what lies outside.
 */
const PLAIN =
  /^(?:(?:[\w.~+=-]|%[0-9a-f]{2})*(?::(?:[\w.~+=-]|%[0-9a-f]{2})*)?@)?(\[[0-9a-f:.]+\]|(?:[\w\u0080-\uffff-]+\.)*[\w\u0080-\uffff-]+)\.?(?::\d{0,5})?(?![\w\u0080-\uffff:@%[-])/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const AFTER_AUTHORITY = /[/?#]/;
const SPACE = /\s/;
/** In a name that is not ASCII: letters of all scripts, their marks and digits. */
const NOT_LETTERS = /[^\p{L}\p{M}\p{N}_.-]/u;
/** Read as others by IDNA 2003 than by IDNA 2008 and UTS 46. */
const DEVIATING = /[\u00df\u03c2\u200c\u200d]/;
const IPV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;
/** A last label that is a number makes a name an address for some clients. */
const NUMBER_LAST = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i;
/** What may make a name of a stranger's domain of what a sentence has behind a host: two labels behind other characters. */
const DOMAIN_BEHIND = /\.[\w-]+\.[\w-]/;
const NAME_BEHIND = /[\w\u0080-\uffff@%\\]/;
const USER_BEHIND_SPACE = /^\s[^/?#]*@/;
const USER = /^[^/\s]*@/;
const MARKUP = /[\s"<>`]/;

/** Whether all clients contact the same host for a URL of a text. `next` is where the next URL begins, or the text ends. */
export type IsPlain = (candidate: UrlCandidate, next: number) => boolean;

/** The check for one text. It reads each unit a bounded number of times. */
export function plainAuthorities(text: string): IsPlain {
  const first = text.length - text.trimStart().length;
  let isOneWord: boolean | undefined;
  return ({ form, start, end }, next) => {
    const isFirst = start === first;
    isOneWord ??= !SPACE.test(text.trim());
    // A text of one word is a URL as a whole, and so is one that was read without its line ends; in a sentence a URL ends
    // where sentences and markup end it.
    const isWhole = isFirst && (isOneWord || SPACE.test(text.slice(start, end)));
    let at = start;
    if (form !== 'bare') {
      if (form === 'absolute') at += SCHEME.exec(text.slice(start, end))?.[0].length ?? 0;
      if (text.slice(at, at + 2) !== '//' || '/\\'.includes(text[at + 2] ?? ' ')) return false;
      at += 2;
    }
    const limit = Math.min(next, start + MAX_URL_LENGTH);
    const rest = text.slice(at, isWhole ? limit : markupFrom(text, at, limit));
    const region = rest.split(AFTER_AUTHORITY, 1)[0] as string;
    const [matched, host] = PLAIN.exec(region) ?? [];
    if (matched === undefined || host === undefined || !isPlainHost(host)) return false;
    const behind = region.slice(matched.length);
    if (isWhole ? NAME_BEHIND.test(behind) : behind.includes('@') || DOMAIN_BEHIND.test(behind)) return false;
    // Some clients end the authority at a slash alone.
    if (
      region.length < rest.length &&
      rest[region.length] !== '/' &&
      USER.test(rest.slice(region.length + 1))
    )
      return false;
    // A client may write a space as %20 and go on to the user's end.
    return !(isFirst && USER_BEHIND_SPACE.test(text.slice(at + region.length, limit)));
  };
}

/** The next space or mark of markup, or `limit`. */
function markupFrom(text: string, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) if (MARKUP.test(text[at] as string)) return at;
  return limit;
}

function isPlainHost(host: string): boolean {
  if (host.startsWith('[')) return true;
  if (NUMBER_LAST.test(host)) return IPV4.test(host);
  if (!/[^ -~]/.test(host)) return true;
  const lower = host.toLowerCase();
  if (NOT_LETTERS.test(lower) || DEVIATING.test(lower)) return false;
  return (
    domainToUnicode(domainToASCII(lower)) === lower.normalize('NFC') && lower === lower.normalize('NFKC')
  );
}
