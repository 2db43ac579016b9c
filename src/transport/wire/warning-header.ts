import type { Warning } from '../../contract/warnings/warning.js';

/**
 * Header and trailer with warnings about a call whose reply has no member for them: `FIELD: MESSAGE`, several with
 * ` | ` between them. The only place for such warnings.
 */
export const WARNING_HEADER = 'x-service-warning';

/** Longest value of the header, in characters: proxies commonly take 4 to 8 KiB of all headers. */
const MAX_LENGTH = 1_000;
const SEPARATOR = ' | ';

/** The value of the header; it is printable ASCII, whatever the warnings quote. Undefined without warnings. */
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
