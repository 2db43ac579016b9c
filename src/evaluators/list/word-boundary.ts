/** Whether the code unit at `at` is an ASCII word character; false outside the text. */
function isWordAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x5f
  );
}

/** Whether an ASCII word begins or ends between the code units `at - 1` and `at`, as `\b` of RE2 says. */
export function isWordBoundary(text: string, at: number): boolean {
  return isWordAt(text, at - 1) !== isWordAt(text, at);
}
