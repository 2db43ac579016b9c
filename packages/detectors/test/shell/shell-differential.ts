import { acceptedByBash, shellLines } from '../../../../test/support/shell-lines.js';
import { readShell, type ShellVisitor } from '../../../shell-reader/src/index.js';

const NOTHING: ShellVisitor = {
  command() {},
  redirect() {},
  substitution() {},
  decoded() {},
  background() {},
  hereDocument() {},
  evaluated() {},
  assigned() {},
  enterFunction() {},
  leaveFunction() {},
};

/** An array that is assigned, `a=(…)`, with an item in which a bracket opens. */
const ARRAY_WITH_BRACKET = /[A-Za-z_][A-Za-z0-9_]*\+?=\([^)]*\[/;

/**
 * Why the reader may accept what `bash -n` refuses. In none of them does a command run that the reader does not see: bash
 * refuses the text as a whole.
 */
const MAY_ACCEPT: readonly [string, RegExp][] = [
  ['of the expression between [[ and ]], only the shape of its operands is checked', /\[\[/],
  ['a subscript that is not closed is a pattern in the name of a program', /[A-Za-z_][A-Za-z0-9_]*\[/],
  ['bash does not read some commands that begin like arithmetic', /\(\(/],
  ['an item of an array with a bracket that is not closed is a word', ARRAY_WITH_BRACKET],
];

/** Why it may refuse what `bash -n` accepts. */
const MAY_REFUSE: readonly [string, RegExp][] = [
  ['bash reads backquoted commands, and what looks like arithmetic, only when it runs them', /`|\$\(\(|\$\[/],
  ['bash reads arithmetic where other shells read commands', /\(\(/],
  ['bash reads expansions of parameters as text until it runs them', /\$\{/],
  ['bash reads an item of an array as a subscript up to its bracket', ARRAY_WITH_BRACKET],
  ['shells differ in the lines of a here-document of a substitution', /<<[\s\S]*[$<>`]\(?/],
];

/** The lines that the reader and `bash -n` judge differently, without those for which there is a reason. */
export function unexplainedDifferences(seed: number, count: number) {
  const lines = shellLines(seed, count);
  const accepted = acceptedByBash(lines);
  const unexplained: string[] = [];
  const reasons: Record<string, number> = {};
  lines.forEach((line, index) => {
    const problem = readShell(line, NOTHING);
    if ((problem === undefined) === accepted[index]) return;
    const reason = (problem === undefined ? MAY_ACCEPT : MAY_REFUSE).find(([, shape]) =>
      shape.test(line),
    )?.[0];
    if (reason === undefined) unexplained.push(`${problem?.message ?? 'accepted'}: ${JSON.stringify(line)}`);
    else reasons[reason] = (reasons[reason] ?? 0) + 1;
  });
  return { unexplained, reasons, lines: lines.length, accepted: accepted.filter(Boolean).length };
}
