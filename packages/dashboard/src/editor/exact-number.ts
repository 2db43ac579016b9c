/** From here on, numbers are printed with an exponent, which marks them as doubles. */
const FIRST_WITH_EXPONENT = 1e21;

/** Whether a number written in JSON keeps its value when it is carried as a double and stored. */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  if (!Number.isFinite(number)) return false;
  const size = Math.abs(number);
  // Integers that a double may have rounded are stored with all their digits, and arrive as texts later.
  if (size > Number.MAX_SAFE_INTEGER && size < FIRST_WITH_EXPONENT) return false;
  return decimal(text) === decimal(String(number));
}

/** A number as its digits without zeros around them, and the power of ten of the last digit. */
function decimal(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`;
}
