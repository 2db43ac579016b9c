import type { CountryCode, NumberingPlan } from 'libphonenumber-js/core';
import { PHONE } from './kinds/kinds.js';
import { phoneLibrary } from './phone-library.cjs';
import type { PiiSearch } from './pii-search.js';
import { classOf, isDigitUnit, OTHER } from './text-units.js';

/** Regions whose national numbers are known when a configuration names none: those of most of the world's text. */
export const DEFAULT_PHONE_REGIONS =
  'US GB DE FR IT ES NL BE CH AT IE PT SE NO DK FI PL AU NZ IN JP KR CN BR MX ZA'.split(' ');
/** Regions with numbering plans, as the library lists them: it is loaded when a text is searched by them. */
export const PHONE_REGIONS: readonly string[] =
  `AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW
BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET
FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN
IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD
ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA
PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS
ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF
WS XK YE YT ZA ZM ZW`.split(/\s/);

const [INTERNATIONAL = 0, NATIONAL = 0, PLAIN = 0] = PHONE.scores;
const MIN_DIGITS = 7;
/** E.164 has at most 15 digits; one more for a national prefix. */
const MAX_DIGITS = 16;
const MAX_GROUPS = 7;
const MAX_LENGTH = 32;
/** Calls of the library for one candidate. */
const MAX_CALLS = 3;
/** Search steps of one call: some 7 µs. */
const STEPS_PER_CALL = 550;
/** Search steps of one pattern of a numbering plan. */
const STEPS_PER_PATTERN = 3;

/** The numbering plan of a region. */
export interface PhoneRegion {
  readonly code: CountryCode;
  /** Matches a whole national number without its prefix. The library does the rest. */
  readonly numbers: RegExp;
  /** Whether national numbers are dialled with a 0 in front. */
  readonly hasTrunkZero: boolean;
  readonly isNorthAmerican: boolean;
}

/** The plans of regions, in their order; those without one are left out. */
export function phoneRegions(codes: readonly string[]): PhoneRegion[] {
  const { core, metadata: plans } = phoneLibrary();
  return codes
    .filter((code): code is CountryCode => core.isSupportedCountry(code as CountryCode, plans))
    .map((code) => {
      const metadata = new core.Metadata(plans);
      metadata.selectNumberingPlan(code);
      // The published types leave these two out.
      const plan = metadata.numberingPlan as NumberingPlan & {
        nationalNumberPattern(): string;
        nationalPrefix(): string | undefined;
        callingCode(): string;
      };
      // Alternatives of fixed digits and bounded repeats: linear on the few digits that it is used for.
      const numbers = new RegExp(`^(?:${plan.nationalNumberPattern()})$`);
      const isNorthAmerican = plan.callingCode() === '1';
      return { code, numbers, hasTrunkZero: plan.nationalPrefix() === '0', isNorthAmerican };
    });
}

/** Digits from a place on, in groups with at most two signs between them. */
interface Digits {
  readonly digits: string;
  /** Where each group ends, and how many digits there are up to there. */
  readonly ends: readonly { readonly end: number; readonly count: number }[];
  /** Lengths of the groups. */
  readonly groups: readonly number[];
}

function readDigits(text: string, start: number): Digits {
  let digits = '';
  const ends: { end: number; count: number }[] = [];
  const groups: number[] = [];
  let at = start;
  while (groups.length < MAX_GROUPS && at - start < MAX_LENGTH) {
    const first = at;
    while (isDigitUnit(text.charCodeAt(at)) && at - first <= MAX_DIGITS) at += 1;
    if (at === first || digits.length + at - first > MAX_DIGITS) break;
    digits += text.slice(first, at);
    groups.push(at - first);
    if (classOf(text.charCodeAt(at)) === OTHER) ends.push({ end: at, count: digits.length });
    if (isSeparator(text.charCodeAt(at))) at += 1;
    else break;
    if (isSeparator(text.charCodeAt(at))) at += 1;
  }
  return { digits, ends, groups };
}

/** Space, parentheses, hyphen, point and slash. */
function isSeparator(unit: number): boolean {
  return unit === 32 || unit === 40 || unit === 41 || (unit >= 45 && unit <= 47);
}

/** Reports the international number whose `+`, or `00`, is before the digits at `start`. Returns where it ends. */
export function findInternational(search: PiiSearch, prefix: number, start: number): number {
  const { digits, ends } = readDigits(search.text, start);
  let calls = 0;
  for (const { end, count } of ends.toReversed()) {
    if (count < MIN_DIGITS || calls >= MAX_CALLS) break;
    if (count > MAX_DIGITS - 1) continue;
    calls += 1;
    search.spend(STEPS_PER_CALL);
    // An additional 0 in parentheses is not dialled from abroad: +44 (0)20 …
    const number = digits.slice(0, count);
    if (isValid(`+${number}`) || isValid(`+${withoutZero(search.text.slice(start, end))}`)) {
      search.add(prefix, end, [{ kind: PHONE.name, score: INTERNATIONAL }], false);
      return end;
    }
  }
  return start;
}

function withoutZero(written: string): string {
  return written.replace('(0)', '').replaceAll(/\D/g, '');
}

function isValid(number: string, region?: CountryCode): boolean {
  const { core, metadata } = phoneLibrary();
  const options = { ...(region && { defaultCountry: region }), extract: false };
  return core.parsePhoneNumberFromString(number, options, metadata)?.isValid() === true;
}

/** Reports the national number that begins with the digits at `start`. Returns where it ends, or `start`. */
export function findNational(search: PiiSearch, start: number, regions: readonly PhoneRegion[]): number {
  const { text } = search;
  const { digits, ends, groups } = readDigits(text, start);
  if (digits.length < MIN_DIGITS || ends.length === 0) return start;
  const first = text.charCodeAt(start - 1) === 40 ? start - 1 : start;
  if (isDate(groups)) return start;
  const isTrunk = digits.charCodeAt(0) === 48;
  const isAmerican = isNorthAmericanShape(groups);
  const isSpokenFor = search.hasContext(PHONE.name, first, ends.at(-1)?.end ?? start);
  if (!isSpokenFor && !((isTrunk && groups.length > 1) || isAmerican)) return start;
  let calls = 0;
  for (const { end, count } of ends.toReversed()) {
    if (count < MIN_DIGITS) break;
    search.spend(regions.length * STEPS_PER_PATTERN);
    const number = digits.slice(0, count);
    for (const region of regions) {
      const fits = isSpokenFor || (isTrunk ? region.hasTrunkZero : region.isNorthAmerican);
      if (!fits || !isNumberOf(region, number)) continue;
      calls += 1;
      search.spend(STEPS_PER_CALL);
      if (isValid(number, region.code)) {
        const score = groups.length > 1 ? NATIONAL : PLAIN;
        search.add(first, end, [{ kind: PHONE.name, score }]);
        return end;
      }
      if (calls >= MAX_CALLS) return start;
    }
  }
  return start;
}

function isNumberOf({ numbers, isNorthAmerican }: PhoneRegion, number: string): boolean {
  if (numbers.test(number)) return true;
  const first = number.charCodeAt(0);
  return (first === 48 || (first === 49 && isNorthAmerican)) && numbers.test(number.slice(1));
}

/** (415) 555-2671, 415.555.2671, 1-415-555-2671. */
function isNorthAmericanShape(groups: readonly number[]): boolean {
  const [one, two, three] = groups[0] === 1 ? groups.slice(1) : groups;
  return one === 3 && two === 3 && three === 4;
}

/** Year, month and day in some order, also with a time behind them. */
function isDate([one = 0, two = 0, three = 0]: readonly number[]): boolean {
  return (one === 4 && two === 2 && three === 2) || (one <= 2 && two <= 2 && three === 4);
}
