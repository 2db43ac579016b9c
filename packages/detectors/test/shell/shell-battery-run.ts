import { expect } from 'vitest';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import { shellEvaluator } from '../../src/shell/shell.js';
import { ALLOWED_MARKER, BUILTINS, batteryTexts, MARKERS } from './shell-battery.js';
import { runTexts } from './shell-sandbox.js';

const SEED = 2026;

/** Share of the texts that run a denied program without a finding: values of variables that are evaluated. */
const MISSED_UNDER_DENIALS = 0.02;

const isFound = (config: Record<string, string[]>): ((text: string) => boolean) => {
  const check = shellEvaluator.compile(config);
  return (text) => {
    const result = check.evaluate(text, FULL_CALL);
    return 'matched' in result && result.matched;
  };
};

const runsMarker = (ran: readonly string[] | undefined): boolean =>
  ran?.some((name) => name !== ALLOWED_MARKER) ?? false;

/**
 * Runs texts with a shell, see `runTexts`, the same ones for the same count: what runs a program that an allow list does not
 * have is found under that list, and nearly all of it under a list of denied programs.
 */
export function expectFindings(shell: string, count: number): void {
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
  expect(running.length).toBeGreaterThan(count / 20);
  expect(alone(running.filter((text) => !strict(text) || !only(text)))).toEqual([]);
  const missed = alone(running.filter((text) => !denied(text)));
  expect(missed.length / running.length).toBeLessThanOrEqual(MISSED_UNDER_DENIALS);
}
