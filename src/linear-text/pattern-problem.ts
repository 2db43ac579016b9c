/** What other engines have and RE2 has not, by how it begins, and what to say about it. */
const MISSING: readonly (readonly [start: RegExp, problem: string])[] = [
  [/^\(\?<=/, 'RE2 has no look-behind (?<=…)'],
  [/^\(\?<!/, 'RE2 has no look-behind (?<!…)'],
  [/^\(\?=/, 'RE2 has no look-ahead (?=…)'],
  [/^\(\?!/, 'RE2 has no look-ahead (?!…)'],
  [/^\(\?>/, 'RE2 has no atomic groups (?>…)'],
  [/^\(\?#/, 'RE2 has no comments (?#…)'],
  [/^\(\?[a-zA-Z]*x/, 'RE2 has no flag x'],
  [/^\\(?:[1-9]|k)/, 'RE2 has no back-references'],
  [/^\\Z/, 'RE2 has no \\Z; write \\z'],
  [/^\\u/, 'RE2 has no \\uXXXX; write \\x{XXXX}'],
  [/^[+*?}]\+/, 'RE2 has no possessive quantifiers'],
  [/^\{\d+(?:,\d*)?\}$/, 'RE2 repeats at most 1,000 times, and the first number is not the greater one'],
];

/** Longest piece of a pattern that is quoted, in characters. */
const QUOTED_LENGTH = 60;

/** What is wrong with a pattern, for its author, from what the engine threw. */
export function patternProblem(error: unknown): string {
  const { message } = error instanceof Error ? error : { message: '' };
  const said = message.replace(/^error parsing regexp: /, '');
  const piece = /`([\s\S]*)`$/.exec(said)?.[1] ?? '';
  const known = MISSING.find(([start]) => start.test(piece))?.[1];
  const place = piece.length > QUOTED_LENGTH ? `${piece.slice(0, QUOTED_LENGTH)}…`.toWellFormed() : piece;
  return `Invalid regex pattern: ${known ?? said.replace(piece, () => place)}`;
}
