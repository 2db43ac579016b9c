/** Whether a code unit is an ASCII word character; NaN, as outside of a text, is none. */
export function isWordUnit(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x5f
  );
}

/** Whether an ASCII word begins or ends between the code units `at - 1` and `at`, as `\b` of RE2 says. */
export function isWordBoundary(text: string, at: number): boolean {
  return isWordUnit(text.charCodeAt(at - 1)) !== isWordUnit(text.charCodeAt(at));
}
