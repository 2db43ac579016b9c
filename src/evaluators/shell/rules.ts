import type { Forbidden, ShellConfig } from './config.js';
import { type CallScore, createCallScore } from './denied-calls.js';
import { baseName, SYSTEM_FOLDER } from './programs.js';

/** Score of what cannot be told, when certainty is not demanded. */
const UNCERTAIN = 0.6;

/** A configuration, prepared for checks. */
export interface Rules {
  readonly forbids: (what: Forbidden) => boolean;
  readonly isDenied: (path: string) => boolean;
  /** Whether the program may run; true when every program may. */
  readonly isAllowed: (path: string) => boolean;
  /** Whether only listed programs may run. */
  readonly isStrict: boolean;
  readonly callScore: CallScore;
  /** Score of a program that cannot be told; 0 when it does not matter. */
  readonly unknownScore: number;
  /** Score of a text that cannot be read. */
  readonly unreadableScore: number;
}

export function rulesOf({ deny_programs = [], allow_programs, deny = [], forbid = [] }: ShellConfig): Rules {
  const forbidden = new Set<Forbidden>(forbid);
  const denied = new Set(deny_programs);
  const allowed = allow_programs === undefined ? undefined : new Set(allow_programs);
  const isStrict = allowed !== undefined;
  const denies = deny_programs.length + deny.length > 0;
  const demandsCertainty = isStrict || forbidden.has('unknown_program');
  return {
    forbids: (what) => forbidden.has(what),
    isDenied: (path) => denied.has(path) || denied.has(baseName(path)),
    isAllowed(path) {
      if (allowed === undefined || allowed.has(path)) return true;
      return SYSTEM_FOLDER.test(path) && allowed.has(baseName(path));
    },
    isStrict,
    callScore: createCallScore(deny),
    unknownScore: demandsCertainty ? 1 : denies ? UNCERTAIN : 0,
    unreadableScore: demandsCertainty ? 1 : UNCERTAIN,
  };
}
