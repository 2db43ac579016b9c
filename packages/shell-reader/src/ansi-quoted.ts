const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

const ESCAPE =
  /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

/**
 * The value of `$'…'`, given the text between its quotes (bash manual, "ANSI-C Quoting"). The value ends at an escaped
 * null character, as it does in bash. Bytes above 127 are read as characters of Latin-1.
 */
export function ansiValue(text: string): string {
  if (!text.includes('\\')) return text;
  const value = text.replace(ESCAPE, (whole, ...groups: (string | undefined)[]) => {
    const [hex, short, long, octal, control, other] = groups;
    const digits = hex ?? short ?? long;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 31);
    return other === undefined ? whole : (SIMPLE[other] ?? `\\${other}`);
  });
  const ending = value.indexOf('\0');
  return ending < 0 ? value : value.slice(0, ending);
}
