/** The tokens of a JSON text: strings, marks, and numbers or words. */
export const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const INDENT = '  ';

/** A JSON text with one member on each line. Numbers and strings stay as they are written. A text that is no JSON stays. */
export function indentedJson(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  let before = '';
  const line = () => `\n${INDENT.repeat(depth)}`;
  const pieces: string[] = [];
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth -= 1;
    const isAfterStart = before === '{' || before === '[';
    if (before === ',' || isAfterStart !== isEnd) pieces.push(line());
    pieces.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return pieces.join('');
}
