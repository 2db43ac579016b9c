import {
  digitAt,
  isDate,
  isRepeated,
  isShortDate,
  luhn,
  numberIn,
  verhoeff,
  weightedSum,
} from './checksums.js';
import type { ShapedKind } from './kind.js';

const TFN_WEIGHTS = [1, 4, 3, 7, 5, 8, 6, 9, 10];
const RESIDENT_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];

function isResidentId(code: string): boolean {
  if (!'12345689'.includes(code[0] ?? '')) return false;
  const year = numberIn(code, 6, 10);
  if (year < 1800 || year > 2099 || !isDate(year, numberIn(code, 10, 12), numberIn(code, 12, 14)))
    return false;
  return '10X98765432'[weightedSum(code, RESIDENT_WEIGHTS) % 11] === code[17];
}

const RRN_WEIGHTS = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];

/** Numbers given since October 2020 have six random digits, and so no check digit. */
function isResidentRegistration(code: string): boolean {
  const digit = digitAt(code, 6);
  const century = digit === 9 || digit === 0 ? 1800 : [1, 2, 5, 6].includes(digit) ? 1900 : 2000;
  const year = century + numberIn(code, 0, 2);
  if (!isDate(year, numberIn(code, 2, 4), numberIn(code, 4, 6))) return false;
  if (year * 100 + numberIn(code, 2, 4) >= 202010) return true;
  return (11 - (weightedSum(code, RRN_WEIGHTS) % 11)) % 10 === digitAt(code, 12);
}

const MY_NUMBER_WEIGHTS = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2];

function isMyNumber(code: string): boolean {
  const rest = weightedSum(code, MY_NUMBER_WEIGHTS) % 11;
  return (rest <= 1 ? 0 : 11 - rest) === digitAt(code, 11) && !isRepeated(code);
}

function isSouthAfricanId(code: string): boolean {
  if (!'012'.includes(code[10] ?? '') || !luhn(code)) return false;
  return isShortDate(numberIn(code, 0, 2), numberIn(code, 2, 4), numberIn(code, 4, 6));
}

const NRIC_WEIGHTS = [2, 7, 6, 5, 4, 3, 2];

function isNric(code: string): boolean {
  const first = code[0] ?? '';
  const letters = 'ST'.includes(first) ? 'JZIHGFEDCBA' : 'FG'.includes(first) ? 'XWUTRQPNMLK' : '';
  if (letters === '') return false;
  const sum = weightedSum(code.slice(1), NRIC_WEIGHTS) + ('TG'.includes(first) ? 4 : 0);
  return letters[sum % 11] === code[8];
}

export const ASIA_PACIFIC_AFRICA: readonly ShapedKind[] = [
  {
    name: 'in_aadhaar',
    region: 'IN',
    title: 'Aadhaar: Verhoeff',
    source: 'Unique Identification Authority of India, Aadhaar Number Scheme',
    shapes: { 12: 0.3, '4 4 4': 0.7, '4-4-4': 0.65 },
    check: (code) => digitAt(code, 0) >= 2 && verhoeff(code) && !isRepeated(code),
    context: ['aadhaar', 'aadhar', 'adhaar', 'uidai', 'uid', 'आधार'],
  },
  {
    name: 'in_pan',
    region: 'IN',
    title: 'Permanent Account Number: structure and type of holder; its check letter is not public',
    source: 'Income Tax Rules 1962, rule 114; Protean eGov, Structure of PAN',
    shapes: { LLLLLDDDDL: 0.6 },
    check: (code) => 'ABCFGHJKLPT'.includes(code[3] ?? '') && numberIn(code, 5, 9) > 0,
    context: ['pan', 'pan card', 'permanent account', 'income tax'],
  },
  {
    name: 'au_tfn',
    region: 'AU',
    title: 'Tax file number: weighted sum modulo 11',
    source: 'Australian Taxation Office, Tax file number algorithm',
    shapes: { 9: 0.15, '3 3 3': 0.45, '3-3-3': 0.35 },
    check: (code) => weightedSum(code, TFN_WEIGHTS) % 11 === 0 && !isRepeated(code),
    context: ['tfn', 'tax file', 'tax file number'],
  },
  {
    name: 'cn_rid',
    region: 'CN',
    title: 'Resident identity number: date and ISO/IEC 7064 MOD 11-2',
    source: 'GB 11643-1999',
    shapes: { 18: 0.85, DDDDDDDDDDDDDDDDDL: 0.9 },
    check: isResidentId,
    context: ['身份证', '身份证号', '公民身份号码', 'id card', 'resident identity', 'shenfenzheng'],
  },
  {
    name: 'kr_rrn',
    region: 'KR',
    title: 'Resident registration number: date and check digit modulo 11',
    source: '주민등록법 시행규칙 (Enforcement Rule of the Resident Registration Act), article 2',
    shapes: { 13: 0.35, '6-7': 0.8 },
    check: isResidentRegistration,
    context: ['주민등록번호', '주민번호', 'rrn', 'resident registration'],
  },
  {
    name: 'jp_my_number',
    region: 'JP',
    title: 'Individual number (My Number): check digit modulo 11',
    source: '総務省令 (Ordinance of the Ministry of Internal Affairs 85 of 2014), article 5',
    shapes: { 12: 0.25, '4 4 4': 0.45, '4-4-4': 0.45 },
    check: isMyNumber,
    context: ['マイナンバー', '個人番号', 'my number', 'mynumber', 'individual number'],
  },
  {
    name: 'sg_nric',
    region: 'SG',
    title: 'NRIC and FIN: check letter modulo 11, of the series S, T, F and G',
    source: 'Immigration & Checkpoints Authority; National Registration Act 1965',
    shapes: { LDDDDDDDL: 0.7 },
    check: isNric,
    context: ['nric', 'fin', 'identity card'],
  },
  {
    name: 'za_id',
    region: 'ZA',
    title: 'Identity number: date, citizenship and Luhn',
    source: 'Department of Home Affairs; Identification Act 68 of 1997',
    shapes: { 13: 0.55, '6 4 3': 0.8, '6 4 2 1': 0.8 },
    check: isSouthAfricanId,
    context: ['id number', 'identity number', 'sa id', 'rsa id', 'south african'],
  },
  {
    name: 'il_id',
    region: 'IL',
    title: 'Teudat Zehut: Luhn over nine digits',
    source: 'Population and Immigration Authority; Population Registry Law 5725-1965',
    shapes: { 9: 0.15, '8-1': 0.5 },
    check: (code) => luhn(code) && !isRepeated(code),
    context: ['teudat zehut', 'teudat', 'zehut', 'תעודת זהות', 'ת.ז', 'israeli id'],
  },
];
