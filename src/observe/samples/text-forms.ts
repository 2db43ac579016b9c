import { decodedTexts, encodedRuns, textOf } from '../../kernel/core/encoded-texts.js';
import { type Replacement, replaceSpans } from '../../kernel/core/text-spans.js';

/** What shows nothing: zero-width characters, soft hyphens. */
const INVISIBLE = /\p{Cf}/gu;
/** A sign between groups of four digits, in place of a blank or dash. */
const GROUP_SIGN = /(?<=\d{4})[_/+.\u00a0\u2007\u202f\u2010-\u2015](?=\d{4})/g;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(["'\\/]))/g;
const PERCENT_BYTES = /(?:%[0-9a-fA-F]{2})+/g;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(quot|apos|amp|lt|gt));/g;
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", amp: '&', lt: '<', gt: '>' };
const MAX_CODE_POINT = 0x10ffff;

/**
 * The text with one level of its escapes resolved: those of JSON and JavaScript, of addresses and of HTML; and without what hides
 * a part of it, such as zero-width characters. The same text if there is none.
 */
export function unescaped(text: string): string {
  return text
    .replaceAll('\0', '')
    .replace(INVISIBLE, '')
    .replace(ESCAPE, (whole, unit?: string, point?: string, byte?: string, sign?: string) =>
      sign === undefined ? character(Number.parseInt(unit ?? point ?? byte ?? '', 16), whole) : sign,
    )
    .replace(PERCENT_BYTES, (bytes) => textOf(Buffer.from(bytes.replaceAll('%', ''), 'hex')) ?? bytes)
    .replace(ENTITY, (whole, decimal?: string, hex?: string, name = '') =>
      decimal === undefined && hex === undefined
        ? (ENTITIES[name] ?? whole)
        : character(Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10), whole),
    )
    .replace(GROUP_SIGN, ' ');
}

/** The text with those runs replaced that encode a text of which `replacement` says so; null keeps a run. */
export function withoutEncoded(text: string, replacement: (decoded: string) => string | null): string {
  const spans: Replacement[] = [];
  for (const { run, start, end } of encodedRuns(text)) {
    const replaced = decodedTexts(run)
      .map(replacement)
      .find((one) => one !== null);
    if (replaced !== undefined) spans.push({ start, end, with: replaced });
  }
  return spans.length === 0 ? text : replaceSpans(text, spans);
}

function character(code: number, otherwise: string): string {
  return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : otherwise;
}
