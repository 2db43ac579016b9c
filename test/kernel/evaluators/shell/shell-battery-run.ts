import { shellEvaluator } from '../../../../src/kernel/evaluators/shell/shell.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { ALLOWED_MARKER, BUILTINS, batteryTexts, MARKERS } from './shell-battery.js';
import { runTexts } from './shell-sandbox.js';

const SEED = 2026;

/** What a shell has run of the texts of a battery. */
export interface BatteryOutcome {
  /** How many of the texts run a program that an allow list does not have. */
  readonly running: number;
  /** Those of them without a finding under an allow list. */
  readonly allowed: readonly string[];
  /** Those of them without a finding under a list of denied programs. */
  readonly missed: readonly string[];
}

const isFound = (config: Record<string, string[]>): ((text: string) => boolean) => {
  const check = shellEvaluator.compile(config);
  return (text) => {
    const result = check.evaluate(text, FULL_CALL);
    return 'matched' in result && result.matched;
  };
};

const runsMarker = (ran: readonly string[] | undefined): boolean =>
  ran?.some((name) => name !== ALLOWED_MARKER) ?? false;

/** Runs texts with a shell, see `runTexts`, and asks the evaluator about them: the same ones for the same count. */
export function runBattery(shell: string, count: number): BatteryOutcome {
  const texts = batteryTexts(SEED, count);
  const strict = isFound({ allow_programs: [ALLOWED_MARKER, ...BUILTINS] });
  const only = isFound({ allow_programs: [ALLOWED_MARKER] });
  const denied = isFound({ deny_programs: [...MARKERS] });
  const ran = runTexts(shell, texts);
  const running = texts.filter((_, index) => runsMarker(ran[index]));
  // What still runs in the background while the next text does is counted for that: such texts are run again, alone.
  const alone = (suspects: readonly string[]): string[] => {
    const again = runTexts(
      shell,
      suspects.flatMap((text) => [`${text}\nwait`, ':']),
    );
    return suspects.filter((_, index) => runsMarker(again[index * 2]));
  };
  return {
    running: running.length,
    allowed: alone(running.filter((text) => !strict(text) || !only(text))),
    missed: alone(running.filter((text) => !denied(text))),
  };
}
