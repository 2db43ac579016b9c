import { quoted } from '../../../../src/contract/errors/quoted.js';
import type { ConfigWarning } from '../../../../src/kernel/core/evaluator.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { isLauncher } from './launchers/rows.js';
import { baseName, programNames } from './programs.js';
import { runsCode } from './shell-call.js';
import { WINDOWS_SHELLS } from './windows-texts.js';

/** Tools that run what files, packages or other machines say. */
const RUNS_FILES =
  /^(?:g?make|bmake|ninja|just|task|rake|npm|npx|pnpm|pnpx|yarn|bun|bunx|uvx|pipx|cargo|go|mvn|gradle|docker|podman|kubectl|ssh|vim?|nvim|emacs|ex|ed|gdb|lldb|expect|source|\.|eval|git|parallel|at|batch|crontab|screen|tmux)$/;

const NAMES = programNames('any');

/** Warnings about a `shell` configuration: allowed programs that run others. */
export function* shellWarnings(config: JsonObject): Generator<ConfigWarning, void> {
  const { allow_programs: allowed } = config;
  if (!Array.isArray(allowed)) return;
  for (const [index, program] of allowed.entries()) {
    if (typeof program !== 'string') continue;
    const name = NAMES.normal(baseName(program));
    const message = runsOthers(name);
    if (message === undefined) continue;
    yield {
      code: 'allows_launcher',
      path: ['allow_programs', index],
      message: `${quoted(program)} ${message}`,
    };
  }
}

function runsOthers(name: string): string | undefined {
  if (runsCode(name) || WINDOWS_SHELLS.has(name)) {
    return 'runs code and scripts that are not read, so that it allows whatever they run';
  }
  if (RUNS_FILES.test(name)) {
    return 'runs what files, settings or other machines say, which is not read, so that it allows whatever they run';
  }
  if (!isLauncher(name)) return undefined;
  return 'runs the programs that its arguments name: they are read, and must be allowed themselves';
}
