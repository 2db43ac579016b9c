/** Arithmetic of check digits. All take ASCII digits; anything else gives an undefined answer, never an error. */

const ZERO = 48;

/** The digit at a position, 0 to 9. */
export function digitAt(code: string, at: number): number {
  return code.charCodeAt(at) - ZERO;
}

/** The number that the digits from `start` to `end` write. */
export function numberIn(code: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) number = number * 10 + digitAt(code, at);
  return number;
}

/** Luhn's check (ISO/IEC 7812-1, annex B) over the digits from `start`. */
export function luhn(code: string, start = 0): boolean {
  let sum = 0;
  let isDoubled = false;
  for (let at = code.length - 1; at >= start; at -= 1) {
    const digit = digitAt(code, at);
    if (isDoubled) sum += digit > 4 ? digit * 2 - 9 : digit * 2;
    else sum += digit;
    isDoubled = !isDoubled;
  }
  return sum % 10 === 0;
}

/** The sum of the first digits, each times its weight. */
export function weightedSum(code: string, weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at += 1) sum += digitAt(code, at) * (weights[at] ?? 0);
  return sum;
}

/** The remainder of digits and letters (A is 10, Z is 35) by 97 (ISO/IEC 7064, MOD 97-10). */
export function remainder97(code: string, start: number, end: number, before = 0): number {
  let rest = before;
  for (let at = start; at < end; at += 1) {
    const unit = code.charCodeAt(at);
    rest = unit <= 57 ? (rest * 10 + unit - ZERO) % 97 : (rest * 100 + unit - 55) % 97;
  }
  return rest;
}

/** ISO/IEC 7064, MOD 11,10: the last digit is the check digit. */
export function iso7064Mod11Radix10(code: string): boolean {
  let product = 10;
  for (let at = 0; at < code.length - 1; at += 1) {
    const sum = (digitAt(code, at) + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - product) % 10 === digitAt(code, code.length - 1);
}

/** Multiplication in the dihedral group D5. */
const DIHEDRAL = ['0123456789', '1234067895', '2340178956', '3401289567', '4012395678', '5987604321'].concat([
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
]);
const PERMUTATION = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
].concat(['2793806415', '7046913258']);

/** Verhoeff's check (J. Verhoeff, Error Detecting Decimal Codes, 1969): the last digit is the check digit. */
export function verhoeff(code: string): boolean {
  let state = 0;
  for (let at = code.length - 1, place = 0; at >= 0; at -= 1, place += 1) {
    const permuted = digitAt(PERMUTATION[place % 8] ?? '', digitAt(code, at));
    state = digitAt(DIHEDRAL[state] ?? '', permuted);
  }
  return state === 0;
}

/** Whether a month has that day; 29 February in leap years only. `year` has four digits. */
export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  if (month === 2) {
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return day <= (isLeap ? 29 : 28);
  }
  return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
}

/** Whether two digits of a year, a month and a day are a date in some century. */
export function isShortDate(year: number, month: number, day: number): boolean {
  return isDate(1900 + year, month, day) || isDate(2000 + year, month, day);
}

/** Whether all units are the same. */
export function isRepeated(code: string): boolean {
  for (let at = 1; at < code.length; at += 1) if (code.charCodeAt(at) !== code.charCodeAt(0)) return false;
  return true;
}
