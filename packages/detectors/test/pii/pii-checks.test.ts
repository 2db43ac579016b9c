import { getCountrySpecifications, isValidIBAN } from 'ibantools';
import { getCountries } from 'libphonenumber-js/max';
import { stdnum } from 'stdnum';
import { describe, expect, it } from 'vitest';
import { IBAN_LENGTHS, isIban } from '../../src/pii/find-iban.js';
import { PHONE_REGIONS } from '../../src/pii/find-phone.js';
import { SHAPED_KINDS } from '../../src/pii/kinds/kinds.js';
import { isCard } from '../../src/pii/kinds/payment.js';

type Next = (bound: number) => number;

/** Whole numbers from 0 to below a bound, the same in each run. */
function random(seed: number): Next {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const ONE = Array.from('0123456789');
const TWO = ONE.flatMap((one) => ONE.map((other) => one + other));
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const two = (value: number): string => String(value).padStart(2, '0');
const digits = (next: Next, count: number): string => Array.from({ length: count }, () => next(10)).join('');
const letters = (next: Next, count: number): string =>
  Array.from({ length: count }, () => LETTERS[next(26)]).join('');
/** Sometimes no date. */
const yearMonthDay = (next: Next): string => `${two(next(100))}${two(next(14))}${two(next(33))}`;
const dayMonthYear = (next: Next): string => `${two(1 + next(28))}${two(1 + next(12))}${two(next(100))}`;
/** Ten digits of which two are the same. */
const withOnePair = (next: Next): string => {
  const all = [...ONE];
  for (let at = 9; at > 0; at -= 1) {
    const other = next(at + 1);
    [all[at], all[other]] = [all[other] ?? '', all[at] ?? ''];
  }
  const place = next(10);
  all[place] = all[(place + 1 + next(9)) % 10] ?? '';
  return all.join('');
};

interface Oracle {
  readonly kind: string;
  readonly accepts: (code: string) => boolean;
  /** What precedes the endings, all of which are tried. */
  readonly start: (next: Next) => string;
  readonly endings: readonly string[];
}

function oracle(
  kind: string,
  validator: { validate(code: string): { readonly isValid: boolean } } | undefined,
  start: (next: Next) => string,
  endings: readonly string[],
  written = (code: string): string => code,
): Oracle {
  if (validator === undefined) throw new Error(`the library does not know ${kind}`);
  return { kind, accepts: (code) => validator.validate(written(code)).isValid, start, endings };
}

const checkOf = (kind: string) => {
  const found = SHAPED_KINDS.find(({ name }) => name === kind);
  if (found === undefined) throw new Error(`there is no kind ${kind}`);
  return found.check;
};

const ORACLES: readonly Oracle[] = [
  oracle('us_ssn', stdnum.US?.ssn, (next) => `${digits(next, 5)}1${digits(next, 2)}`, ONE),
  oracle('ca_sin', stdnum.CA?.sin, (next) => `${1 + next(7)}${digits(next, 7)}`, ONE),
  oracle('br_cpf', stdnum.BR?.cpf, (next) => digits(next, 9), TWO),
  oracle('br_cnpj', stdnum.BR?.cnpj, (next) => digits(next, 12), TWO),
  oracle('mx_curp', stdnum.MX?.curp, (next) => `BOXW${yearMonthDay(next)}HDFRRR0`, ONE),
  oracle('gb_nino', stdnum.GB?.nino, (next) => `${letters(next, 2)}${digits(next, 6)}`, LETTERS),
  oracle('ie_pps', stdnum.IE?.pps, (next) => digits(next, 7), LETTERS),
  oracle('de_steuer_id', stdnum.DE?.idnr, withOnePair, ONE),
  oracle(
    'de_rentenversicherung',
    stdnum.DE?.svnr,
    (next) => `${two(next(100))}${dayMonthYear(next)}${letters(next, 1)}${digits(next, 2)}`,
    ONE,
  ),
  oracle(
    'fr_nir',
    stdnum.FR?.nir,
    (next) => `${1 + next(2)}${two(next(100))}${two(1 + next(12))}${two(1 + next(95))}${digits(next, 6)}`,
    TWO,
  ),
  oracle('nl_bsn', stdnum.NL?.bsn, (next) => `${next(10)}${1 + next(9)}${digits(next, 6)}`, ONE),
  // The library takes 00, 98 and 99 for check numbers, which are 1 to 97.
  oracle(
    'be_nn',
    stdnum.BE?.nn,
    (next) => `${two(next(24))}${two(1 + next(12))}${two(1 + next(28))}${1 + next(9)}${digits(next, 2)}`,
    TWO.slice(1, 98),
  ),
  oracle('ch_ahv', stdnum.CH?.ssn, (next) => `756${digits(next, 9)}`, ONE),
  oracle(
    'at_svnr',
    stdnum.AT?.vnr,
    (next) => `${1 + next(9)}${digits(next, 3)}${two(1 + next(28))}${two(1 + next(12))}`,
    TWO,
  ),
  oracle('es_dni', stdnum.ES?.dni, (next) => digits(next, 8), LETTERS),
  oracle('es_nie', stdnum.ES?.nie, (next) => `${'XYZW'[next(4)]}${digits(next, 7)}`, LETTERS),
  oracle(
    'it_codice_fiscale',
    stdnum.IT?.codicefiscale,
    (next) =>
      `RSSMRA${two(next(100))}${letters(next, 1)}${two(1 + next(28) + 40 * next(2))}A${digits(next, 3)}`,
    LETTERS,
  ),
  oracle(
    'pl_pesel',
    stdnum.PL?.pesel,
    (next) => `${two(next(100))}${two(next(14) + 80 * next(2))}${two(next(33))}${digits(next, 4)}`,
    ONE,
  ),
  oracle('pt_nif', stdnum.PT?.nif, (next) => `${1 + next(3)}${digits(next, 7)}`, ONE),
  oracle(
    'se_personnummer',
    stdnum.SE?.personnummer,
    (next) => `${yearMonthDay(next)}${digits(next, 3)}`,
    ONE,
    (code) => `${code.slice(0, 6)}-${code.slice(6)}`,
  ),
  oracle(
    'fi_hetu',
    stdnum.FI?.hetu,
    (next) => `${two(1 + next(28))}${two(next(14))}${two(next(24))}A${two(1 + next(89))}${next(10)}`,
    [...ONE, ...LETTERS],
  ),
  oracle(
    'no_fnr',
    stdnum.NO?.fodselsnummer,
    (next) => `${two(1 + next(28))}${two(1 + next(12))}${two(40 + next(60))}${two(next(50))}${next(10)}`,
    TWO,
  ),
  oracle('tr_tckn', stdnum.TR?.tckimlik, (next) => digits(next, 9), TWO),
  oracle('in_aadhaar', stdnum.IN?.aadhaar, (next) => digits(next, 11), ONE),
  oracle('in_pan', stdnum.IN?.pan, (next) => `${letters(next, 5)}${1 + next(9)}${digits(next, 3)}`, LETTERS),
  oracle('au_tfn', stdnum.AU?.tfn, (next) => digits(next, 8), ONE),
  oracle('cn_rid', stdnum.CN?.ric, (next) => `110105${19}${yearMonthDay(next)}${digits(next, 3)}`, [
    ...ONE,
    'X',
  ]),
  oracle('kr_rrn', stdnum.KR?.rrn, (next) => `${yearMonthDay(next)}1${two(next(97))}${digits(next, 3)}`, ONE),
  // The library knows no refugees, whose digit is 2.
  oracle(
    'za_id',
    stdnum.ZA?.idnr,
    (next) => `${yearMonthDay(next)}${digits(next, 4)}${[0, 1, 3, 9][next(4)]}8`,
    ONE,
  ),
  oracle('il_id', stdnum.IL?.idnr, (next) => digits(next, 8), ONE),
];

describe.each(ORACLES)('$kind', ({ kind, accepts, start, endings }) => {
  it('accepts the numbers that the library stdnum accepts', () => {
    const check = checkOf(kind);
    const next = random(7);
    const differ: string[] = [];
    let valid = 0;
    for (let round = 0; round < 300; round += 1) {
      const first = start(next);
      for (const ending of endings) {
        const expected = accepts(first + ending);
        if (expected) valid += 1;
        if (check(first + ending) !== expected) differ.push(`${first + ending}: ${expected}`);
      }
    }
    expect(differ).toEqual([]);
    expect(valid).toBeGreaterThan(20);
  });
});

describe('numbers that the library does not know', () => {
  it.each([
    ['gb_nhs', '9434765919', '9434765918'],
    ['sg_nric', 'S1234567D', 'S1234567A'],
    ['jp_my_number', '123456789018', '123456789012'],
    ['us_itin', '912701234', '912691234'],
    ['dk_cpr', '0703852345', '3202852345'],
    ['de_personalausweis', 'L01X00T471', 'L01X00T472'],
    ['us_ssn', '536226789', '666226789'],
    ['us_ssn', '536226789', '536220000'],
    ['ca_sin', '130692544', '046454286'],
    ['za_id', '8001015009087', '8001015009088'],
  ])('%s: %s is one, %s is none', (kind, right, wrong) => {
    expect(checkOf(kind)(right)).toBe(true);
    expect(checkOf(kind)(wrong)).toBe(false);
  });
});

describe('cards', () => {
  it('have the check digit of Luhn, and first digits of a network', () => {
    const next = random(11);
    let valid = 0;
    for (let round = 0; round < 500; round += 1) {
      const first = `4${digits(next, 14)}`;
      for (const last of ONE) {
        // Written out by the definition: doubled digits are added by their own digits.
        const sum = [...(first + last)].reverse().reduce((total, digit, at) => {
          const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
          return total + Math.floor(value / 10) + (value % 10);
        }, 0);
        expect(isCard(first + last)).toBe(sum % 10 === 0);
        if (sum % 10 === 0) valid += 1;
      }
    }
    expect(valid).toBe(500);
    expect(isCard('9111111111111111')).toBe(false);
    expect(isCard('0000000000000000')).toBe(false);
  });
});

describe('IBANs', () => {
  /** Territories whose IBANs begin with the code of their state. */
  const territories = 'AX BL GF GG GP IM JE MF MQ NC PF PM RE TF WF YT'.split(' ');
  const specifications = Object.entries(getCountrySpecifications()).filter(
    ([country, { IBANRegistry }]) => IBANRegistry && !territories.includes(country),
  );

  it('have the lengths of the registry that the library ibantools has', () => {
    const known = new Map(specifications.map(([country, { chars }]) => [country, chars]));
    for (const [country, length] of known)
      expect([country, IBAN_LENGTHS.get(country)]).toEqual([country, length]);
  });

  it('are accepted where ibantools accepts them, and never with a wrong check number', () => {
    const next = random(13);
    let valid = 0;
    for (const [country, { chars, bban_regexp }] of specifications) {
      for (let round = 0; round < 40; round += 1) {
        const bban = bbanOf(next, bban_regexp ?? '');
        for (let check = 2; check <= 98; check += 1) {
          const code = `${country}${two(check)}${bban}`;
          const expected = isValidIBAN(code);
          if (expected) valid += 1;
          if (expected) expect([code, isIban(code)]).toEqual([code, true]);
          else if (isIban(code)) {
            // National check digits, which are part of the account number, are not looked at.
            expect([code, code.length, remainder(code)]).toEqual([code, chars, 1]);
          }
        }
      }
    }
    expect(valid).toBeGreaterThan(1000);
  });
});

/** An account number of a structure such as `^[A-Z]{4}[0-9]{14}$`. */
function bbanOf(next: Next, structure: string): string {
  return [...structure.matchAll(/\[([A-Z0-9-]+)\]\{(\d+)\}/g)]
    .map(([, units = '', count]) =>
      units.includes('0-9') ? digits(next, Number(count)) : letters(next, Number(count)),
    )
    .join('');
}

/** The remainder of the rearranged code by 97, in whole numbers of any size. */
function remainder(code: string): number {
  const written = [...(code.slice(4) + code.slice(0, 4))].map((unit) => Number.parseInt(unit, 36)).join('');
  return Number(BigInt(written) % 97n);
}

it('the regions with numbering plans are those of the library', () => {
  expect(PHONE_REGIONS).toEqual(getCountries());
});
