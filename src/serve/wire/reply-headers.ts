import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Warning } from '../../contract/warnings/warning.js';

/** Header with the version of the server, on every reply. */
export const VERSION_HEADER = 'X-SERVICE-Server-Version';
/** All such headers: deployed clients read one exact name, which the settings can add. */
export function versionHeaders(further: readonly string[]): readonly string[] {
  return [VERSION_HEADER, ...further.filter((name) => name !== VERSION_HEADER.toLowerCase())];
}

/** Header with the id of a request, on requests and replies. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Header and trailer with the revision that a change produced. */
export const REVISION_HEADER = 'x-service-revision';
/** Header and trailer with the age of the controls used for the decision; only if they may be outdated. */
export const STALENESS_HEADER = 'x-service-staleness-seconds';

/**
 * Headers with the limit that is nearest its end, of a single evaluation over REST
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/, version 10), and the time after which an unsafe step
 * may be repeated, in seconds (RFC 9110, section 10.2.3).
 */
export const RATE_LIMIT_HEADER = 'ratelimit';
export const RATE_LIMIT_POLICY_HEADER = 'ratelimit-policy';
export const RETRY_AFTER_HEADER = 'retry-after';

/** Header with the code of an error, where the body is in the form of another protocol, which may have no place for it. */
export const ERROR_CODE_HEADER = 'x-service-error-code';

/** Header and trailer that says which credentials a call needs (RFC 9110, section 11.6.1). */
export const CHALLENGE_HEADER = 'www-authenticate';

/** Header with the version that a change demands; over RPCs the member `if_version`. */
export const IF_MATCH_HEADER = 'If-Match';
/** Header with the version of a resource, in quotes; over RPCs the member `version`. */
export const ETAG_HEADER = 'ETag';
/** Header with the position of the next page; over RPCs the member `next_page_token`. */
export const NEXT_PAGE_HEADER = 'X-Service-Next-Page-Token';

/** Request ids of callers are accepted if they look like ids; anything else could forge log lines. */
const ACCEPTABLE_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The id of a request: the one sent by its caller, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && ACCEPTABLE_REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Header and trailer with warnings about a call whose reply has no member for them: `FIELD: MESSAGE`, several
 * joined with ` | `. The only place for such warnings.
 */
export const WARNING_HEADER = 'x-service-warning';

/** Maximum length of the value, in characters: proxies commonly accept 4 to 8 KiB of headers in total. */
const MAX_LENGTH = 1_000;
const SEPARATOR = ' | ';

/** The header value; always printable ASCII, whatever the warnings quote. Undefined without warnings. */
export function warningHeader(warnings: readonly Warning[]): string | undefined {
  let text = '';
  for (const [index, { field, message }] of warnings.entries()) {
    const next = (index === 0 ? '' : SEPARATOR) + asciiOf(`${field}: ${message}`);
    const rest = warnings.length - index;
    const more = `${SEPARATOR}${rest} more`;
    if (text.length + next.length + more.length > MAX_LENGTH) {
      return index === 0 ? next.slice(0, MAX_LENGTH) : text + more;
    }
    text += next;
  }
  return text === '' ? undefined : text;
}

function asciiOf(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
