/** How a URL is written: with its scheme; from its host on, behind two slashes; or from its host on. */
export type UrlForm = 'absolute' | 'relative' | 'bare';

/** A place of a text that may be a URL. */
export interface UrlCandidate {
  readonly form: UrlForm;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Whether it begins inside of another one, behind the host of that one. */
  readonly isNested: boolean;
}

/** Longest URL that is read, in UTF-16 code units. What is longer is read as far as that. */
export const MAX_URL_LENGTH = 4096;
/** Longest scheme. */
const MAX_SCHEME_LENGTH = 32;
/** Schemes whose URLs need no slashes, and take backslashes for slashes (WHATWG URL, special schemes). */
export const SPECIAL_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp']);
/** Schemes without a host that run something or carry data. */
export const OPAQUE_SCHEMES: ReadonlySet<string> = new Set([
  'javascript',
  'vbscript',
  'data',
  'blob',
  'view-source',
]);

/** Hosts with a name of some labels, an IPv4 address or localhost, with a port, path, query or fragment behind them. */
const BARE =
  /(?<![\w@.\-/\\:%])(?:(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}|(?:\d{1,3}\.){3}\d{1,3}|localhost)(?=[/?#]|:\d)/gi;
const WWW = /(?<![\w@.\-/\\])www\d?\.(?=[^\s.])/gi;
const SLASHES = /[/\\]{2}(?=[^\s/\\])/g;

/** Punctuation of sentences and of markup. */
const TRAILING = ".,;:!?]}'*|_。，、）】」』；！？”’》…";

interface Start {
  readonly form: UrlForm;
  readonly at: number;
}

/** All places of a text that may be URLs, in order; they do not overlap. Reads each unit a bounded number of times. */
export function findUrls(text: string, bareHosts: boolean): UrlCandidate[] {
  const starts = withoutParts(text, startsOf(text, bareHosts));
  const found: UrlCandidate[] = [];
  let previousEnd = -1;
  for (let index = 0; index < starts.length; index += 1) {
    const { form, at } = starts[index] as Start;
    const limit = Math.min(starts[index + 1]?.at ?? text.length, at + MAX_URL_LENGTH, text.length);
    const reached = endOf(text, at, limit);
    // Directly behind another one that has not ended, and not the next one of a list or the target of a link.
    const isNested = previousEnd === at && !LISTING.includes(text[at - 1] ?? '');
    previousEnd = reached === limit ? reached : -1;
    const end = reached === limit && limit < text.length ? reached : trimmed(text, at, reached);
    if (end - at > MAX_EMPTY_LENGTH || !EMPTY.test(text.slice(at, end)))
      found.push({ form, start: at, end, isNested });
  }
  return found;
}

/** Units between the URLs of a list. */
const LISTING = ',;|(';
/** A scheme and slashes alone. */
const EMPTY = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*$/i;
const MAX_EMPTY_LENGTH = 64;

/** Without those that have no scheme and lie in another URL: these are parts of its host or path. */
function withoutParts(text: string, starts: readonly Start[]): Start[] {
  let runEnd = 0;
  return starts.filter(({ form, at }) => {
    if (form !== 'absolute' && at < runEnd && !LISTING.includes(text[at - 1] ?? '')) return false;
    if (at >= runEnd) runEnd = endOf(text, at, text.length);
    return true;
  });
}

function startsOf(text: string, bareHosts: boolean): Start[] {
  const starts: Start[] = [];
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    const at = schemeStart(text, colon);
    if (at >= 0) starts.push({ form: 'absolute', at });
  }
  for (const { index } of text.matchAll(SLASHES)) {
    if (isHostStart(text, index)) starts.push({ form: 'relative', at: index });
  }
  for (const { index } of text.matchAll(WWW)) starts.push({ form: 'bare', at: index });
  if (bareHosts) for (const { index } of text.matchAll(BARE)) starts.push({ form: 'bare', at: index });
  return starts
    .sort((left, right) => left.at - right.at)
    .filter(({ at }, index) => starts[index - 1]?.at !== at);
}

/** Where the scheme before a colon begins, if what follows it may be a URL of the scheme; else -1. */
function schemeStart(text: string, colon: number): number {
  let start = colon;
  while (start > 0 && colon - start < MAX_SCHEME_LENGTH && isSchemeUnit(text.charCodeAt(start - 1)))
    start -= 1;
  while (start < colon && !isLetter(text.charCodeAt(start))) start += 1;
  if (colon - start < 2) return -1;
  const scheme = text.slice(start, colon).toLowerCase();
  const next = text.charCodeAt(colon + 1);
  // What is glued to the front of a well-known scheme is no part of it: `see:https`, `1.https`, `xhttps`.
  const known = /(?:https?|wss?|ftp)$/.exec(scheme);
  if (known !== null && (isSlash(next) || SPECIAL_SCHEMES.has(scheme))) {
    return isSlash(next) || startsHost(text, colon + 1) ? colon - known[0].length : -1;
  }
  if (scheme === 'file') return isSlash(next) ? start : -1;
  if (OPAQUE_SCHEMES.has(scheme)) return next > 32 && next !== 58 ? start : -1;
  return next === 47 && text.charCodeAt(colon + 2) === 47 && text.charCodeAt(colon + 3) > 32 ? start : -1;
}

/** `https:host.example` without slashes: a name with a dot directly behind the colon. */
function startsHost(text: string, at: number): boolean {
  for (let place = at; place < Math.min(text.length, at + 64); place += 1) {
    const unit = text.charCodeAt(place);
    if (unit === 46) return place > at && text.charCodeAt(place + 1) > 32;
    if (unit <= 32 || (!isSchemeUnit(unit) && unit !== 64 && unit !== 37)) return false;
  }
  return false;
}

/** Two slashes in front of a host, no part of a URL, and no comment: a name with a dot, an address, or a user. */
function isHostStart(text: string, at: number): boolean {
  const before = at === 0 ? 32 : text.charCodeAt(at - 1);
  if (before > 32 && !'"\'(=<>[`,;|#?'.includes(String.fromCharCode(before))) return false;
  for (let place = at + 2; place < Math.min(text.length, at + 256); place += 1) {
    const unit = text.charCodeAt(place);
    if (unit === 46 || unit === 0x3002 || unit === 0xff0e)
      return place > at + 2 && text.charCodeAt(place + 1) > 32;
    if (unit === 91 || unit === 64) return true;
    if (unit <= 32 || isSlash(unit) || unit === 34 || unit === 40 || unit === 59) return false;
  }
  return false;
}

/** Units that end a URL in running text: spaces, controls, double quotes, angle brackets and back quotes. */
function isEnd(unit: number): boolean {
  return (
    unit <= 32 ||
    unit === 34 ||
    unit === 60 ||
    unit === 62 ||
    unit === 96 ||
    unit === 127 ||
    unit === 0xa0 ||
    unit === 0x3000
  );
}

function endOf(text: string, start: number, limit: number): number {
  const quote = start > 0 && text.charCodeAt(start - 1) === 39 ? 39 : -1;
  let end = start;
  while (end < limit) {
    const unit = text.charCodeAt(end);
    if (isEnd(unit) || unit === quote) break;
    end += 1;
  }
  return end;
}

/** Without the punctuation of the sentence; a closing parenthesis belongs to the URL when it was opened there. */
function trimmed(text: string, start: number, limit: number): number {
  let closing = 0;
  for (let at = start; at < limit; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 41) closing += 1;
    else if (unit === 40) closing -= 1;
  }
  let end = limit;
  while (end > start) {
    const last = text[end - 1] ?? '';
    if (last === ')' && closing > 0) closing -= 1;
    else if (!TRAILING.includes(last)) break;
    end -= 1;
  }
  return end;
}

function isLetter(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
}

function isSlash(unit: number): boolean {
  return unit === 47 || unit === 92;
}

function isSchemeUnit(unit: number): boolean {
  return isLetter(unit) || (unit >= 48 && unit <= 57) || unit === 43 || unit === 45 || unit === 46;
}
