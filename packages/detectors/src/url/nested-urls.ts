import { findUrls } from './find-urls.js';
import { plainAuthorities } from './plain-authority.js';
import { type ReadUrl, readUrl } from './read-url.js';

/** How often percent signs are decoded. */
const MAX_DECODINGS = 3;
/** Most URLs in one. */
const MAX_NESTED = 16;

/** URLs in the path, the query and the fragment of another one, encoded up to three times. */
export function nestedUrls(url: URL): ReadUrl[] {
  const found: ReadUrl[] = [];
  let text = `${url.pathname}${url.search}${url.hash}`;
  for (let round = 0; round <= MAX_DECODINGS; round += 1) {
    const spaced = text.replaceAll('+', ' ');
    const candidates = findUrls(spaced, false);
    const isPlain = plainAuthorities(spaced);
    for (const [index, candidate] of candidates.entries()) {
      const read = readUrl(text.slice(candidate.start, candidate.end), candidate.form);
      if (read === null || read.host === '') continue;
      // Which host clients contact is not certain: none that a list has.
      const next = candidates[index + 1]?.start ?? text.length;
      found.push(isPlain(candidate, next) ? read : { ...read, host: '' });
      if (found.length >= MAX_NESTED) return found;
    }
    if (!text.includes('%')) break;
    text = decoded(text);
  }
  return found;
}

/** The text with what percent signs encode, as far as it is UTF-8. */
function decoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      // Not UTF-8: each byte of ASCII is still what it is.
      return bytes.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    }
  });
}
