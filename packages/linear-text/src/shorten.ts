/** `text`, cut to at most `limit` characters (code points, 4 or more); a cut text ends with three dots. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = '';
  let count = 0;
  for (const character of text) {
    count += 1;
    if (count > limit) return `${kept}...`;
    if (count <= limit - 3) kept += character;
  }
  return text;
}
