import type { SimpleCommand, Word } from '../../../packages/shell-reader/src/index.js';
import { plainPath } from './denied-calls.js';
import type { Certainty } from './findings.js';
import { isPlain } from './plain-programs.js';
import type { TextScope } from './text-scope.js';

/** Score of a denied call among the arguments of a program that is not known. */
const AMONG_ARGUMENTS: Certainty = 0.5;
/** Most words of a call that are looked at as programs, and as texts. */
const MAX_PROGRAMS = 8;
const MAX_TEXTS = 4;
const MAX_TEXT_LENGTH = 10_000;

/** Denied programs and calls among the arguments of a program that may be a launcher, as words or as one text. */
export function checkUnknownProgram(
  text: TextScope,
  { words }: SimpleCommand,
  name: string,
  from: number,
  to: number,
): void {
  const { rules, findings } = text;
  if (!rules.denies || isPlain(name) || text.check.certainty < 1) return;
  let programs = 0;
  let texts = 0;
  for (let at = from + 1; at < to && programs < MAX_PROGRAMS; at += 1) {
    const word = words[at] as Word;
    if (word.dynamic || word.value === '') continue;
    const path = plainPath(word.value);
    const inner = rules.nameOf(path);
    const isDenied = rules.isDenied(path);
    if (isDenied || rules.calls.isNamed(inner)) {
      programs += 1;
      if (isDenied) findings.add('program_denied', word.start, word.end, AMONG_ARGUMENTS);
      const score = rules.calls.score(inner, words, at, to, false);
      const end = (words[to - 1] as Word).end;
      if (score > 0) findings.add('call_denied', word.start, end, Math.min(score, AMONG_ARGUMENTS));
    } else if (/\s/.test(word.value) && word.value.length < MAX_TEXT_LENGTH && texts < MAX_TEXTS) {
      texts += 1;
      text.guess(word.value.replace(/^-[^\s=]*=/, ''), word, AMONG_ARGUMENTS);
    }
  }
}
