/** Classes of UTF-16 code units; everything beyond ASCII is `OTHER`. */
export const OTHER = 0;
export const DIGIT = 1;
export const UPPER = 2;
export const LOWER = 3;

/** The class of each ASCII unit. */
export const CLASSES: Uint8Array = Uint8Array.from({ length: 128 }, (_, unit) => {
  if (unit >= 48 && unit <= 57) return DIGIT;
  if (unit >= 65 && unit <= 90) return UPPER;
  return unit >= 97 && unit <= 122 ? LOWER : OTHER;
});

/** The class of a unit; of NaN, which is beyond the text, `OTHER`. */
export function classOf(unit: number): number {
  return unit < 128 ? (CLASSES[unit] ?? OTHER) : OTHER;
}

export function isDigitUnit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** Whether a unit is a hexadecimal digit. */
export function isHexUnit(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || (unit >= 97 && unit <= 102) || (unit >= 65 && unit <= 70);
}

/** Digits of other scripts, full-width letters and signs, and spaces and hyphens that look like those of ASCII. */
const FOLDED =
  /[\u00a0\u00ad\u2007\u2009\u200a\u202f\u2010-\u2015\u2212\u3000\uff01-\uff5e\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g;

/**
 * The text with such units replaced by those of ASCII, one for one: positions stay. Returns the text itself, at the cost
 * of one search, where there is none.
 */
export function foldUnits(text: string): string {
  return text.search(FOLDED) < 0 ? text : text.replace(FOLDED, foldUnit);
}

function foldUnit(character: string): string {
  const unit = character.charCodeAt(0);
  if (unit >= 0xff01 && unit <= 0xff5e) return String.fromCharCode(unit - 0xfee0);
  for (const zero of [0x660, 0x6f0, 0x966]) {
    if (unit >= zero && unit <= zero + 9) return String.fromCharCode(unit - zero + 48);
  }
  return (unit >= 0x2010 && unit <= 0x2015) || unit === 0x2212 || unit === 0xad ? '-' : ' ';
}
