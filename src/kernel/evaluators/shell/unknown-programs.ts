import { type ProgramCall, plainPath } from './denied-calls.js';
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
export function checkUnknownProgram(text: TextScope, call: ProgramCall): void {
  const { rules, findings } = text;
  const { args } = call;
  if (!rules.denies || isPlain(call.name) || text.check.certainty < 1) return;
  let programs = 0;
  let texts = 0;
  for (const [at, word] of args.entries()) {
    if (word.dynamic || word.value === '') continue;
    if (programs >= MAX_PROGRAMS) return;
    const path = plainPath(word.value);
    const name = rules.nameOf(path);
    const isDenied = rules.isDenied(path);
    if (isDenied || rules.calls.isNamed(name)) {
      programs += 1;
      if (isDenied) findings.add('program_denied', word, AMONG_ARGUMENTS);
      const inner = { name, program: word, args: args.slice(at + 1), fromInput: false };
      const score = Math.min(rules.calls.score(inner), AMONG_ARGUMENTS);
      if (score > 0)
        findings.add('call_denied', { start: word.start, end: (args.at(-1) ?? word).end }, score);
    } else if (/\s/.test(word.value) && word.value.length < MAX_TEXT_LENGTH && texts < MAX_TEXTS) {
      texts += 1;
      text.guess(word.value.replace(/^-[^\s=]*=/, ''), word, AMONG_ARGUMENTS);
    }
  }
}
