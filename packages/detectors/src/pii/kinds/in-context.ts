import { isDate, isShortDate, numberIn } from './checksums.js';
import type { ShapedKind } from './kind.js';

/** Year first or last; where it is last, the day or the month first. */
function isBirthDate(code: string): boolean {
  if (code.length === 6) {
    const [first, second, third] = [numberIn(code, 0, 2), numberIn(code, 2, 4), numberIn(code, 4, 6)];
    return isShortDate(third, second, first) || isShortDate(third, first, second);
  }
  const first = numberIn(code, 0, 4);
  if (first >= 1900 && first <= 2099) return isDate(first, numberIn(code, 4, 6), numberIn(code, 6, 8));
  const year = numberIn(code, 4, 8);
  if (year < 1900 || year > 2099) return false;
  const [one, two] = [numberIn(code, 0, 2), numberIn(code, 2, 4)];
  return isDate(year, two, one) || isDate(year, one, two);
}

function countDigits(code: string): number {
  let count = 0;
  for (let at = 0; at < code.length; at += 1) if (code.charCodeAt(at) <= 57) count += 1;
  return count;
}

/** Kinds that only the words near them tell from other numbers of the same shape: alone, they score below any use. */
export const IN_CONTEXT: readonly ShapedKind[] = [
  {
    name: 'date_of_birth',
    title: 'A date near words that say that somebody was born on it',
    source: 'ISO 8601-1 and usual notations; the calendar of Gregory',
    shapes: {
      '4-2-2': 0.1,
      '2.2.4': 0.1,
      '2/2/4': 0.1,
      '2-2-4': 0.1,
      '4/2/2': 0.1,
      '2/2/2': 0.05,
      '2.2.2': 0.05,
    },
    check: isBirthDate,
    context: [
      'birth',
      'dob',
      'd.o.b',
      'born',
      'birthday',
      'birthdate',
      'geboren',
      'geburtsdatum',
      'geb',
      'geburtstag',
      'naissance',
      'né le',
      'née le',
      'nacimiento',
      'nacido',
      'nacida',
      'nascita',
      'nato',
      'nata',
      'nascimento',
      'nascido',
      'geboortedatum',
      'födelsedatum',
      'født',
      'urodzenia',
      'рождения',
      '出生',
      '生年月日',
      '생년월일',
    ],
  },
  {
    name: 'passport',
    title: 'A code of the shape of a passport number near words that say that it is one',
    source: 'ICAO Doc 9303-4: at most nine letters and digits',
    shapes: { 9: 0.1, 8: 0.1, 'L????????': 0.1, DDLLDDDDD: 0.1, LDDDDDDD: 0.1, LLDDDDDD: 0.1 },
    check: (code) => countDigits(code) >= 5,
    context: [
      'passport',
      'passports',
      'passportnumber',
      'reisepass',
      'reisepassnummer',
      'pass nr',
      'passeport',
      'pasaporte',
      'passaporto',
      'passaporte',
      'paspoort',
      'paszport',
      'паспорт',
      '护照',
      'パスポート',
      '여권',
    ],
  },
];
