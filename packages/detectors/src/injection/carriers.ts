/** A part of a text that carries something else. */
export interface Carrier {
  readonly start: number;
  readonly end: number;
}

/** Shortest run of base64 that is decoded, in characters: 30 bytes. */
const LEAST_BASE64 = 40;
/** Characters of a run that are decoded, and runs of a text. */
const MOST_DECODED = 4_096;
const MOST_RUNS = 64;
/** Share of the decoded characters that texts have at least. */
const LEAST_READABLE = 0.9;

const isBase64 = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

/**
 * The first runs of base64 that decode to readable text, with that text. Looks at one character of each 40 only: a run
 * that is long enough has one of these.
 */
export function readableBase64(text: string): (Carrier & { readonly decoded: string })[] {
  const found: (Carrier & { readonly decoded: string })[] = [];
  let tried = 0;
  for (let at = LEAST_BASE64 - 1; at < text.length && tried < MOST_RUNS; ) {
    if (isBase64[text.charCodeAt(at)] !== 1) {
      at += LEAST_BASE64;
      continue;
    }
    let start = at;
    while (start > 0 && at - start < LEAST_BASE64 && isBase64[text.charCodeAt(start - 1)] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && isBase64[text.charCodeAt(end)] === 1) end += 1;
    if (end - start >= LEAST_BASE64) {
      tried += 1;
      const decoded = decodeReadable(text.slice(start, Math.min(end, start + MOST_DECODED)));
      if (decoded !== null) found.push({ start, end, decoded });
    }
    at = Math.max(at + LEAST_BASE64, end + LEAST_BASE64 - 1);
  }
  return found;
}

function decodeReadable(encoded: string): string | null {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const readable = decoded.match(/[\p{Letter}\p{Number}\p{Punctuation}\s]/gu)?.length ?? 0;
  return readable >= LEAST_READABLE * decoded.length && /\s/.test(decoded) ? decoded : null;
}

const IMAGE = /!\[[^[\]\n]{0,300}\]\([ \t]{0,4}<?(https?:\/\/[^\s<>()]{1,600})/gi;
const IMAGE_TAG = /<img\b[^<>]{0,300}?\bsrc[ \t]{0,4}=[ \t]{0,4}["']?(https?:\/\/[^\s<>"']{1,600})/gi;
/** A place in an address for what a model is to fill in. */
const FILLED_IN =
  /\{\{?[^}]{1,60}\}|%7b[^&]{1,60}%7d|\[[a-z _-]{2,40}\]|%5b[^&]{1,40}%5d|\$\w{2,30}|<[a-z _-]{2,40}|[?&/=](?:data|secrets?|conversation|history|summary|password|token|your_?\w{2,20}|insert_?\w{2,20})(?:_here)?(?:=|$)|=(?:data|secret|base64|conversation|history|summary|chat|context|insert|your)\b/i;

/** Images of Markdown and HTML whose address has a place for data, with their scores. */
export function dataImages(text: string): (Carrier & { readonly score: number })[] {
  if (!text.includes('](') && !/<img\b/i.test(text)) return [];
  const found: (Carrier & { readonly score: number })[] = [];
  for (const pattern of [IMAGE, IMAGE_TAG]) {
    for (const { 0: all, 1: address = '', index: start } of text.matchAll(pattern)) {
      const at = address.search(/[?#]/);
      if (at < 0) continue;
      const query = address.slice(at);
      if (FILLED_IN.test(query)) found.push({ start, end: start + all.length, score: 0.6 });
      else if (/[A-Za-z0-9+/_-]{80,}/.test(query)) found.push({ start, end: start + all.length, score: 0.3 });
    }
  }
  return found;
}
