import type { Word } from '../../../shell-reader/src/index.js';
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

/** Reads the arguments of a shell or an interpreter. */
export const executedBy = (program: string, args: readonly Word[]): Executed =>
  SHELLS.has(program) ? byShell(args) : byInterpreter(args);

function byShell(args: readonly Word[]): Executed {
  let takesText = false;
  let takesInput = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const { value } = args[at] as Word;
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
  const word = args[at];
  if (takesText && word !== undefined) return { kind: 'text', word };
  if (takesInput || word === undefined || word.value === '/dev/stdin') return { kind: 'input' };
  return { kind: 'file', word };
}

function byInterpreter(args: readonly Word[]): Executed {
  for (const [at, word] of args.entries()) {
    if (word.value === '-' || word.value === '/dev/stdin') return { kind: 'input' };
    if (CODE_FLAG.test(word.value)) return { kind: 'code', word: args[at + 1] };
    if (!word.value.startsWith('-')) return { kind: 'file', word };
  }
  return { kind: 'input' };
}
