import { remainder97 } from './kinds/checksums.js';
import { IBAN } from './kinds/kinds.js';
import type { PiiSearch } from './pii-search.js';
import { classOf, LOWER, OTHER } from './text-units.js';

/** Characters of an IBAN by country (SWIFT IBAN Registry, release 99). */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 ' +
    'LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 ' +
    'RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Countries and the length of their IBANs. */
export const IBAN_LENGTHS = LENGTHS;

const [USUAL = 0, LOWER_CASE = 0] = IBAN.scores;
const SPACE = 32;
const DASH = 45;

/** Whether upper-case letters and digits are an IBAN: length of its country, and remainder 1. */
export function isIban(code: string): boolean {
  if (LENGTHS.get(code.slice(0, 2)) !== code.length) return false;
  const check = Number(code.slice(2, 4));
  if (check < 2 || check > 98) return false;
  return remainder97(code, 0, 4, remainder97(code, 4, code.length)) === 1;
}

/** Reports the IBAN that begins with the two letters and two digits at `start`, with single spaces or hyphens in it. */
export function findIban(search: PiiSearch, start: number): void {
  const { text } = search;
  const country = text.slice(start, start + 2).toUpperCase();
  const length = LENGTHS.get(country);
  if (length === undefined) return;
  let code = '';
  let hasLower = false;
  let at = start;
  while (code.length < length) {
    const unit = text.charCodeAt(at);
    const unitClass = classOf(unit);
    if (unitClass !== OTHER) {
      code += text[at];
      if (unitClass === LOWER) hasLower = true;
    } else if ((unit !== SPACE && unit !== DASH) || classOf(text.charCodeAt(at + 1)) === OTHER) return;
    at += 1;
  }
  search.spend(length);
  if (classOf(text.charCodeAt(at)) !== OTHER || !isIban(code.toUpperCase())) return;
  search.add(start, at, [{ kind: IBAN.name, score: hasLower ? LOWER_CASE : USUAL }], false);
}
