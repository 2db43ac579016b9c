import type { Forbidden, ShellConfig } from './config.js';
import { createDeniedCalls } from './denied-calls.js';
import { baseName, programNames, SYSTEM_FOLDER } from './programs.js';

/** Score of what cannot be told, when certainty is not demanded. */
const UNCERTAIN = 0.6;

/** A configuration, prepared for checks. */
export type Rules = ReturnType<typeof rulesOf>;

export function rulesOf(config: ShellConfig) {
  const { deny_programs = [], allow_programs, deny = [], forbid = [], platform } = config;
  const forbidden = new Set<Forbidden>(forbid);
  const names = programNames(platform ?? 'any');
  const denied = new Set(deny_programs.map(names.normal));
  // Names that may be others on some system are not allowed.
  const exact = programNames(platform === undefined || platform === 'any' ? 'posix' : platform).normal;
  const allowed = allow_programs === undefined ? undefined : new Set(allow_programs.map(exact));
  const isStrict = allowed !== undefined;
  const denies = deny_programs.length + deny.length > 0;
  /** Whether what cannot be told counts as much as what is denied. */
  const demandsCertainty = isStrict || forbidden.has('unknown_program');
  return {
    forbids: (what: Forbidden) => forbidden.has(what),
    isDenied: (path: string) => denied.has(names.normal(path)) || denied.has(names.normal(baseName(path))),
    /** Whether the program may run; true when every program may. */
    isAllowed(path: string) {
      if (allowed === undefined || allowed.has(exact(path))) return true;
      return SYSTEM_FOLDER.test(path) && allowed.has(exact(baseName(path)));
    },
    /** Whether only listed programs may run. */
    isStrict,
    /** Whether programs or calls are denied. */
    denies,
    calls: createDeniedCalls(deny, names.normal),
    /** The name by which the program of a path is known. */
    nameOf: (path: string) => names.normal(baseName(path)),
    pathOf: names.path,
    /** Score of a program that cannot be told; 0 when it does not matter. */
    unknownScore: demandsCertainty ? 1 : denies ? UNCERTAIN : 0,
    /** Score of a text that cannot be read. */
    unreadableScore: demandsCertainty ? 1 : UNCERTAIN,
  };
}
