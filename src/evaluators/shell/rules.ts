import type { Forbidden, ShellConfig } from './config.js';
import { createDeniedCalls, type DeniedCalls } from './denied-calls.js';
import { programNames } from './program-names.js';
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
  /** Whether what cannot be told counts as much as what is denied. */
  readonly demandsCertainty: boolean;
  /** Whether programs or calls are denied. */
  readonly denies: boolean;
  readonly calls: DeniedCalls;
  /** The name by which the program of a path is known. */
  readonly nameOf: (path: string) => string;
  /** The path that a word names, given its value and its text. */
  readonly pathOf: (value: string, written: string) => string;
  /** Score of a program that cannot be told; 0 when it does not matter. */
  readonly unknownScore: number;
  /** Score of a text that cannot be read. */
  readonly unreadableScore: number;
}

export function rulesOf(config: ShellConfig): Rules {
  const { deny_programs = [], allow_programs, deny = [], forbid = [], platform } = config;
  const forbidden = new Set<Forbidden>(forbid);
  const names = programNames(platform ?? 'any');
  const denied = new Set(deny_programs.map(names.normal));
  // Names that may be others on some system are not allowed.
  const exact = programNames(platform === undefined || platform === 'any' ? 'posix' : platform).normal;
  const allowed = allow_programs === undefined ? undefined : new Set(allow_programs.map(exact));
  const isStrict = allowed !== undefined;
  const denies = deny_programs.length + deny.length > 0;
  const demandsCertainty = isStrict || forbidden.has('unknown_program');
  return {
    forbids: (what) => forbidden.has(what),
    isDenied: (path) => denied.has(names.normal(path)) || denied.has(names.normal(baseName(path))),
    isAllowed(path) {
      if (allowed === undefined || allowed.has(exact(path))) return true;
      return SYSTEM_FOLDER.test(path) && allowed.has(exact(baseName(path)));
    },
    isStrict,
    demandsCertainty,
    denies,
    calls: createDeniedCalls(deny, names.normal),
    nameOf: (path) => names.normal(baseName(path)),
    pathOf: names.path,
    unknownScore: demandsCertainty ? 1 : denies ? UNCERTAIN : 0,
    unreadableScore: demandsCertainty ? 1 : UNCERTAIN,
  };
}
