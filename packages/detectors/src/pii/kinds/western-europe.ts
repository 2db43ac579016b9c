import {
  digitAt,
  iso7064Mod11Radix10,
  isRepeated,
  isShortDate,
  numberIn,
  remainder97,
  weightedSum,
} from './checksums.js';
import type { ShapedKind } from './kind.js';

const NHS_WEIGHTS = [10, 9, 8, 7, 6, 5, 4, 3, 2];

function isNhsNumber(code: string): boolean {
  const check = 11 - (weightedSum(code, NHS_WEIGHTS) % 11);
  return (check === 11 ? 0 : check) === digitAt(code, 9) && !isRepeated(code);
}

const UNUSED_NINO_PREFIXES = new Set(['BG', 'GB', 'KN', 'NK', 'NT', 'TN', 'ZZ']);

function isNino(code: string): boolean {
  if ('DFIQUV'.includes(code[0] ?? '') || 'DFIOQUV'.includes(code[1] ?? '')) return false;
  return !UNUSED_NINO_PREFIXES.has(code.slice(0, 2)) && 'ABCD'.includes(code[8] ?? '');
}

const PPS_WEIGHTS = [8, 7, 6, 5, 4, 3, 2];

function isPps(code: string): boolean {
  const second = code[8] ?? 'W';
  if (!'ABHWTX'.includes(second)) return false;
  const extra = second === 'W' ? 0 : (code.charCodeAt(8) - 64) * 9;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[(weightedSum(code, PPS_WEIGHTS) + extra) % 23] === code[7];
}

/** In the first ten digits, one occurs twice or three times, not three times in a row, and the others at most once. */
function isSteuerId(code: string): boolean {
  if (code[0] === '0' || !iso7064Mod11Radix10(code)) return false;
  const counts = new Uint8Array(10);
  let repeated = 0;
  for (let at = 0; at < 10; at += 1) {
    const digit = digitAt(code, at);
    counts[digit] = (counts[digit] ?? 0) + 1;
    if (counts[digit] === 2) repeated += 1;
    if (counts[digit] === 4) return false;
    if (at >= 2 && code[at] === code[at - 1] && code[at] === code[at - 2]) return false;
  }
  return repeated === 1;
}

/** Areas of the pension insurers that were ever given (VKVV, Anlage 1). */
function isPensionArea(area: number): boolean {
  if (area <= 21) return (area >= 2 && area <= 4) || area >= 8;
  if (area <= 40) return (area >= 23 && area <= 26) || area === 28 || area === 29 || area >= 38;
  return (area >= 42 && area <= 82) || area === 89;
}

const SVNR_WEIGHTS = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];

function isRentenversicherungsnummer(code: string): boolean {
  if (!isPensionArea(numberIn(code, 0, 2))) return false;
  if (!isShortDate(numberIn(code, 6, 8), numberIn(code, 4, 6), numberIn(code, 2, 4))) return false;
  const letter = String(code.charCodeAt(8) - 64).padStart(2, '0');
  const digits = code.slice(0, 8) + letter + code.slice(9, 11);
  let sum = 0;
  for (let at = 0; at < 12; at += 1) {
    const product = digitAt(digits, at) * (SVNR_WEIGHTS[at] ?? 0);
    sum += Math.floor(product / 10) + (product % 10);
  }
  return sum % 10 === digitAt(code, 11);
}

/** Letters have the values 10 to 35, and vowels and some others never occur. */
function isPersonalausweis(code: string): boolean {
  if (!'LMNPRTVWXY'.includes(code[0] ?? '')) return false;
  let sum = 0;
  for (let at = 0; at < 9; at += 1) {
    const unit = code.charCodeAt(at);
    if (unit > 57 && !'CFGHJKLMNPRTVWXYZ'.includes(code[at] ?? '')) return false;
    sum += (unit > 57 ? unit - 55 : unit - 48) * ([7, 3, 1][at % 3] ?? 0);
  }
  return sum % 10 === digitAt(code, 9);
}

/** Month 20 and above: unknown. Corsica is 2A and 2B, which count as 19 and 18 in the remainder. */
function isNir(code: string): boolean {
  const month = numberIn(code, 3, 5);
  if (
    !'123478'.includes(code[0] ?? '') ||
    month < 1 ||
    (month > 12 && month < 20) ||
    (month > 42 && month < 50)
  ) {
    return false;
  }
  const isCorsican = code.charCodeAt(6) > 57;
  if (isCorsican && (code[5] !== '2' || !'AB'.includes(code[6] ?? ''))) return false;
  const digits = isCorsican ? `${code.slice(0, 5)}${code[6] === 'A' ? '19' : '18'}${code.slice(7)}` : code;
  if (numberIn(digits, 5, 7) === 0) return false;
  return 97 - remainder97(digits, 0, 13) === numberIn(digits, 13, 15);
}

const BSN_WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Days and months may be 0, and months 20 or 40 higher (BIS numbers). */
function isBelgianNumber(code: string): boolean {
  const month = numberIn(code, 2, 4) % 20;
  if (month > 12 || numberIn(code, 4, 6) > 31 || numberIn(code, 6, 9) === 0) return false;
  const check = numberIn(code, 9, 11);
  return (
    97 - remainder97(code, 0, 9) === check ||
    // Those born from 2000 on have a 2 before the nine digits.
    97 - remainder97(code, 0, 9, 2) === check
  );
}

const AHV_WEIGHTS = [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1];
const AUSTRIAN_WEIGHTS = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6];

function isAustrianNumber(code: string): boolean {
  if (code[0] === '0' || weightedSum(code, AUSTRIAN_WEIGHTS) % 11 !== digitAt(code, 3)) return false;
  return isShortDate(numberIn(code, 8, 10), numberIn(code, 6, 8), numberIn(code, 4, 6));
}

export const WESTERN_EUROPE: readonly ShapedKind[] = [
  {
    name: 'gb_nhs',
    region: 'GB',
    title: 'NHS number: check digit modulo 11',
    source: 'NHS Data Model and Dictionary, NHS NUMBER',
    shapes: { 10: 0.2, '3 3 4': 0.45, '3-3-4': 0.3 },
    check: isNhsNumber,
    context: ['nhs', 'nhs number', 'health service', 'patient'],
  },
  {
    name: 'gb_nino',
    region: 'GB',
    title: 'National Insurance number: prefixes and suffixes that are used',
    source: 'HM Revenue & Customs, National Insurance Manual NIM39110',
    shapes: { LLDDDDDDL: 0.7, 'LL DD DD DD L': 0.9, 'LL-DD-DD-DD-L': 0.9, 'LL DDDDDD L': 0.85 },
    check: isNino,
    context: ['nino', 'national insurance', 'insurance number', 'ni number', 'hmrc'],
  },
  {
    name: 'ie_pps',
    region: 'IE',
    title: 'Personal Public Service number: check letter modulo 23',
    source: 'Department of Social Protection, Ireland, PPS Number',
    shapes: { DDDDDDDL: 0.4, DDDDDDDLL: 0.5 },
    check: isPps,
    context: ['pps', 'ppsn', 'personal public service'],
  },
  {
    name: 'de_steuer_id',
    region: 'DE',
    title: 'Steuerliche Identifikationsnummer: frequency of digits, ISO/IEC 7064 MOD 11,10',
    source: 'Abgabenordnung § 139b; Bundeszentralamt für Steuern',
    shapes: { 11: 0.6, '2 3 3 3': 0.9, '2-3-3-3': 0.8 },
    check: isSteuerId,
    context: [
      'steuer',
      'steuer id',
      'steuerid',
      'steuernummer',
      'idnr',
      'identifikationsnummer',
      'tax',
      'tin',
    ],
  },
  {
    name: 'de_rentenversicherung',
    region: 'DE',
    title: 'Versicherungsnummer der Rentenversicherung: area, date and check digit',
    source: 'SGB VI § 147; VKVV § 2',
    shapes: { DDDDDDDDLDDD: 0.85, 'DD DDDDDD L DDD': 0.95 },
    check: isRentenversicherungsnummer,
    context: ['rentenversicherung', 'rentenversicherungsnummer', 'sozialversicherungsnummer', 'rvnr', 'svnr'],
  },
  {
    name: 'de_personalausweis',
    region: 'DE',
    title: 'Serial number of an identity card with its check digit (weights 7, 3, 1)',
    source: 'BSI TR-03105; ICAO Doc 9303-3, 4.9',
    shapes: { 'L????????D': 0.25 },
    check: isPersonalausweis,
    context: ['personalausweis', 'ausweis', 'ausweisnummer', 'perso', 'identity card', 'id card'],
  },
  {
    name: 'fr_nir',
    region: 'FR',
    title: "Numéro d'inscription au répertoire: key modulo 97",
    source: 'INSEE, Numéro de sécurité sociale (définition); décret 82-103',
    shapes: {
      15: 0.7,
      DDDDDDLDDDDDDDD: 0.8,
      '1 2 2 2 3 3 2': 0.95,
      'D DD DD DL DDD DDD DD': 0.95,
      '13 2': 0.75,
      '1-2-2-2-3-3-2': 0.95,
    },
    check: isNir,
    context: ['nir', 'sécurité sociale', 'securite sociale', 'sécu', 'insee', 'numéro de sécu'],
  },
  {
    name: 'nl_bsn',
    region: 'NL',
    title: 'Burgerservicenummer: weighted sum modulo 11',
    source: 'Rijksdienst voor Identiteitsgegevens, Logisch Ontwerp GBA',
    shapes: { 9: 0.15, '3.3.3': 0.45, '4.2.3': 0.6, '4 2 3': 0.5 },
    check: (code) => weightedSum(code, BSN_WEIGHTS) % 11 === 0 && numberIn(code, 0, 9) > 9_999_999,
    context: ['bsn', 'burgerservicenummer', 'sofinummer', 'burger service nummer'],
  },
  {
    name: 'be_nn',
    region: 'BE',
    title: 'Rijksregisternummer, numéro national: check number modulo 97',
    source: 'Koninklijk besluit 3 april 1984 (samenstelling van het identificatienummer)',
    shapes: { 11: 0.5, '2.2.2-3.2': 0.95, '2.2.2-3-2': 0.9, '6-3-2': 0.8 },
    check: isBelgianNumber,
    context: [
      'rijksregister',
      'rijksregisternummer',
      'registre national',
      'numéro national',
      'national number',
      'insz',
      'niss',
    ],
  },
  {
    name: 'ch_ahv',
    region: 'CH',
    title: 'AHV-Nummer: 756 and the check digit of EAN-13',
    source: 'Zentrale Ausgleichsstelle (ZAS), AHV-Nummer',
    shapes: { 13: 0.7, '3.4.4.2': 0.97, '3 4 4 2': 0.9 },
    check: (code) => code.startsWith('756') && weightedSum(code, AHV_WEIGHTS) % 10 === 0,
    context: ['ahv', 'ahvn', 'avs', 'sozialversicherungsnummer', 'numéro avs'],
  },
  {
    name: 'at_svnr',
    region: 'AT',
    title: 'Sozialversicherungsnummer: date and check digit modulo 11',
    source: 'Dachverband der Sozialversicherungsträger; ASVG § 460d',
    shapes: { 10: 0.3, '4 6': 0.65, '4-6': 0.55, '4/6': 0.5 },
    check: isAustrianNumber,
    context: ['svnr', 'sozialversicherungsnummer', 'versicherungsnummer', 'sv nr', 'sv nummer'],
  },
];
