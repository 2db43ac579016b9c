import { digitAt, isDate, isShortDate, luhn, numberIn, weightedSum } from './checksums.js';
import type { ShapedKind } from './kind.js';

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

function isDni(code: string): boolean {
  return DNI_LETTERS[numberIn(code, 0, 8) % 23] === code[8] && numberIn(code, 0, 8) > 0;
}

function isNie(code: string): boolean {
  const first = 'XYZ'.indexOf(code[0] ?? '');
  return first >= 0 && DNI_LETTERS[(first * 10_000_000 + numberIn(code, 1, 8)) % 23] === code[8];
}

/** Values of 0 to 9, and of A to Z, at odd places. */
const ODD_DIGITS = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
const ODD_LETTERS = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];
/** Letters that stand for 0 to 9 where two persons would have one code (omocodia). */
const SUBSTITUTES = 'LMNPQRSTUV';
const MONTHS = 'ABCDEHLMPRST';

function isCodiceFiscale(code: string): boolean {
  let sum = 0;
  for (let at = 0; at < 15; at += 1) {
    const unit = code.charCodeAt(at);
    if (at % 2 === 0) sum += (unit > 57 ? ODD_LETTERS[unit - 65] : ODD_DIGITS[unit - 48]) ?? 0;
    else sum += unit > 57 ? unit - 65 : unit - 48;
  }
  if (code.charCodeAt(15) !== 65 + (sum % 26)) return false;
  const plain = (at: number): number => {
    const unit = code.charCodeAt(at);
    return unit > 57 ? SUBSTITUTES.indexOf(code[at] ?? '') : unit - 48;
  };
  for (const at of [6, 7, 9, 10, 12, 13, 14]) if (plain(at) < 0) return false;
  const month = MONTHS.indexOf(code[8] ?? '') + 1;
  const day = plain(9) * 10 + plain(10);
  return isShortDate(plain(6) * 10 + plain(7), month, day > 40 ? day - 40 : day);
}

const PESEL_WEIGHTS = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1];
const PESEL_CENTURIES = [1900, 2000, 2100, 2200, 1800];

function isPesel(code: string): boolean {
  if (weightedSum(code, PESEL_WEIGHTS) % 10 !== 0) return false;
  const month = numberIn(code, 2, 4);
  const century = PESEL_CENTURIES[Math.floor(month / 20)] ?? 0;
  return isDate(century + numberIn(code, 0, 2), month % 20, numberIn(code, 4, 6));
}

const NIF_WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2];

function isPortugueseNif(code: string): boolean {
  if (!'123'.includes(code[0] ?? '') && !code.startsWith('45')) return false;
  const check = 11 - (weightedSum(code, NIF_WEIGHTS) % 11);
  return (check >= 10 ? 0 : check) === digitAt(code, 8);
}

/** Coordination numbers have days that are 60 higher. */
function isPersonnummer(code: string): boolean {
  const start = code.length - 10;
  const day = numberIn(code, start + 4, start + 6);
  const month = numberIn(code, start + 2, start + 4);
  const real = day > 60 ? day - 60 : day;
  if (!luhn(code, start)) return false;
  if (start === 0) return isShortDate(numberIn(code, 0, 2), month, real);
  const year = numberIn(code, 0, 4);
  return year >= 1850 && year <= 2099 && isDate(year, month, real);
}

const HETU_CHECKS = '0123456789ABCDEFHJKLMNPRSTUVWXY';

function isHetu(code: string): boolean {
  const start = code.length - 4;
  if (code.length === 11 && !'ABCDEFUVWXY'.includes(code[6] ?? '')) return false;
  if (!isShortDate(numberIn(code, 4, 6), numberIn(code, 2, 4), numberIn(code, 0, 2))) return false;
  const person = numberIn(code, start, start + 3);
  return person >= 2 && HETU_CHECKS[(numberIn(code, 0, 6) * 1000 + person) % 31] === code[code.length - 1];
}

const FNR_FIRST = [3, 7, 6, 1, 8, 9, 4, 5, 2, 1];
const FNR_SECOND = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];

/** D numbers have days that are 40 higher. */
function isFodselsnummer(code: string): boolean {
  if (weightedSum(code, FNR_FIRST) % 11 !== 0 || weightedSum(code, FNR_SECOND) % 11 !== 0) return false;
  const day = numberIn(code, 0, 2);
  return isShortDate(numberIn(code, 4, 6), numberIn(code, 2, 4), day > 40 ? day - 40 : day);
}

function isTurkishNumber(code: string): boolean {
  if (code[0] === '0') return false;
  const odd = weightedSum(code, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = weightedSum(code, [0, 1, 0, 1, 0, 1, 0, 1]);
  if ((odd * 7 - even + 100) % 10 !== digitAt(code, 9)) return false;
  return (odd + even + digitAt(code, 9)) % 10 === digitAt(code, 10);
}

export const OTHER_EUROPE: readonly ShapedKind[] = [
  {
    name: 'es_dni',
    region: 'ES',
    title: 'Documento nacional de identidad: check letter modulo 23',
    source: 'Real Decreto 1553/2005, artículo 11; Ministerio del Interior, cálculo del dígito de control',
    shapes: { DDDDDDDDL: 0.75, 'DDDDDDDD-L': 0.85, 'DDDDDDDD L': 0.6, 'DD.DDD.DDD-L': 0.9 },
    check: isDni,
    context: ['dni', 'nif', 'documento nacional', 'identidad'],
  },
  {
    name: 'es_nie',
    region: 'ES',
    title: 'Número de identidad de extranjero: check letter modulo 23',
    source: 'Real Decreto 557/2011, artículo 206; Ministerio del Interior',
    shapes: { LDDDDDDDL: 0.75, 'L-DDDDDDD-L': 0.9, 'LDDDDDDD-L': 0.8 },
    check: isNie,
    context: ['nie', 'extranjero', 'extranjería', 'nif'],
  },
  {
    name: 'it_codice_fiscale',
    region: 'IT',
    title: 'Codice fiscale of a person: date and check letter, with the letters of omocodia',
    source: 'Decreto ministeriale 23 dicembre 1976',
    shapes: { 'LLLLLL??L??L???L': 0.95 },
    check: isCodiceFiscale,
    context: ['codice fiscale', 'fiscale', 'cf'],
  },
  {
    name: 'pl_pesel',
    region: 'PL',
    title: 'PESEL: date and check digit modulo 10',
    source: 'Ustawa o ewidencji ludności (2010), art. 15; gov.pl, Czym jest numer PESEL',
    shapes: { 11: 0.55 },
    check: isPesel,
    context: ['pesel'],
  },
  {
    name: 'pt_nif',
    region: 'PT',
    title: 'Número de identificação fiscal of a person: check digit modulo 11',
    source: 'Decreto-Lei 14/2013; Autoridade Tributária e Aduaneira',
    shapes: { 9: 0.15, '3 3 3': 0.35 },
    check: isPortugueseNif,
    context: ['nif', 'contribuinte', 'identificação fiscal'],
  },
  {
    name: 'se_personnummer',
    region: 'SE',
    title: 'Personnummer: date and Luhn, also coordination numbers',
    source: 'Skatteverket, SKV 704; folkbokföringslagen (1991:481) 18 §',
    shapes: { 10: 0.2, 12: 0.55, '6-4': 0.65, '6+4': 0.8, '8-4': 0.85 },
    check: isPersonnummer,
    context: ['personnummer', 'personnr', 'pnr', 'samordningsnummer', 'personal identity number'],
  },
  {
    name: 'fi_hetu',
    region: 'FI',
    title: 'Henkilötunnus: date and check character modulo 31',
    source: 'Digital and Population Data Services Agency, The personal identity code',
    shapes: {
      'DDDDDD-DDDL': 0.9,
      'DDDDDD-DDDD': 0.6,
      'DDDDDD+DDDL': 0.9,
      'DDDDDD+DDDD': 0.7,
      DDDDDDLDDDL: 0.9,
      DDDDDDLDDDD: 0.8,
    },
    check: isHetu,
    context: ['hetu', 'henkilötunnus', 'henkilötunnukseni', 'personal identity code', 'personbeteckning'],
  },
  {
    name: 'dk_cpr',
    region: 'DK',
    title: 'CPR-nummer: date; since 2007 it may have no check digit',
    source: 'CPR-kontoret, Personnummeret i CPR-systemet',
    shapes: { 10: 0.1, '6-4': 0.4, '6 4': 0.2 },
    check: (code) => isShortDate(numberIn(code, 4, 6), numberIn(code, 2, 4), numberIn(code, 0, 2)),
    context: ['cpr', 'cpr nummer', 'cprnummer', 'cpr nr', 'personnummer'],
  },
  {
    name: 'no_fnr',
    region: 'NO',
    title: 'Fødselsnummer: date and two check digits modulo 11, also D numbers',
    source: 'Skatteetaten, Fødselsnummer; folkeregisterforskriften § 2-2-1',
    shapes: { 11: 0.65, '6 5': 0.9, '6-5': 0.8 },
    check: isFodselsnummer,
    context: ['fødselsnummer', 'fodselsnummer', 'fnr', 'personnummer'],
  },
  {
    name: 'tr_tckn',
    region: 'TR',
    title: 'T.C. Kimlik Numarası: two check digits',
    source: 'Nüfus ve Vatandaşlık İşleri Genel Müdürlüğü; Nüfus Hizmetleri Kanunu 5490',
    shapes: { 11: 0.45 },
    check: isTurkishNumber,
    context: ['tckn', 'kimlik', 'kimlik no', 'tc no', 'tc kimlik'],
  },
];
