import type { Word } from '../../../packages/shell-reader/src/index.js';
import { INTERPRETERS, SHELLS } from './programs.js';

/** What a shell or an interpreter runs: the text of an argument, a file, or its input. */
export type Executed =
  | { readonly kind: 'text'; readonly word: Word }
  | { readonly kind: 'file'; readonly word: Word }
  | { readonly kind: 'code'; readonly word: Word | undefined }
  | { readonly kind: 'input' };

/** Flags of shells with a value, besides `-c`. */
const SHELL_VALUES = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file', '-C', '--init-command']);
/** Flags of interpreters whose value is code or the name of a module. */
const CODE_FLAG = /^-(?:[a-zA-Z]*[ceEmpnrF]|-eval|-print|-command|Command|EncodedCommand)/;

export const runsCode = (program: string): boolean => SHELLS.has(program) || INTERPRETERS.test(program);

/** Reads the arguments of a shell or an interpreter at `from`. */
export function executedBy(program: string, words: readonly Word[], from: number, to: number): Executed {
  return SHELLS.has(program) ? byShell(words, from, to) : byInterpreter(words, from, to);
}

function byShell(words: readonly Word[], from: number, to: number): Executed {
  let takesText = false;
  let takesInput = false;
  let at = from + 1;
  for (; at < to; at += 1) {
    const { value } = words[at] as Word;
    if (value === '--' || value === '-') {
      at += 1;
      break;
    }
    if (SHELL_VALUES.has(value)) at += 1;
    else if (value.startsWith('--')) takesText ||= value === '--command';
    else if (/^[-+]./.test(value)) {
      takesText ||= value.startsWith('-') && value.includes('c');
      takesInput ||= value.startsWith('-') && value.includes('s');
      if (/^[-+][a-zA-Z]*[oO]$/.test(value)) at += 1;
    } else break;
  }
  const word = at < to ? words[at] : undefined;
  if (takesText && word !== undefined) return { kind: 'text', word };
  if (takesInput || word === undefined || word.value === '/dev/stdin') return { kind: 'input' };
  return { kind: 'file', word };
}

function byInterpreter(words: readonly Word[], from: number, to: number): Executed {
  for (let at = from + 1; at < to; at += 1) {
    const word = words[at] as Word;
    if (word.value === '-' || word.value === '/dev/stdin') return { kind: 'input' };
    if (CODE_FLAG.test(word.value)) return { kind: 'code', word: at + 1 < to ? words[at + 1] : undefined };
    if (!word.value.startsWith('-')) return { kind: 'file', word };
  }
  return { kind: 'input' };
}
