import { describe, expect, it } from 'vitest';
import { shellEvaluator } from '../../../../src/kernel/evaluators/shell/shell.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { ALLOWED_MARKER, BUILTINS, batteryTexts, MARKERS } from './shell-battery.js';
import { canRunTexts, runTexts } from './shell-sandbox.js';

const TEXTS = 20_000;
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

describe.each(['/bin/bash', '/usr/bin/dash'])('texts that %s runs', (shell) => {
  it.skipIf(!canRunTexts(shell))(
    'run no program that an allow list does not have without a finding',
    () => {
      const texts = batteryTexts(SEED, TEXTS);
      const strict = isFound({ allow_programs: [ALLOWED_MARKER, ...BUILTINS] });
      const only = isFound({ allow_programs: [ALLOWED_MARKER] });
      const denied = isFound({ deny_programs: [...MARKERS] });
      const ran = runTexts(shell, texts);
      const running = texts.filter((_, index) => runsMarker(ran[index]));
      expect(running.length).toBeGreaterThan(TEXTS / 20);

      // What still runs in the background while the next text does is counted for that: such texts are run again, alone.
      const alone = (suspects: readonly string[]): string[] => {
        const again = runTexts(
          shell,
          suspects.flatMap((text) => [`${text}\nwait`, ':']),
        );
        return suspects.filter((_, index) => runsMarker(again[index * 2]));
      };
      expect(alone(running.filter((text) => !strict(text) || !only(text)))).toEqual([]);
      const missed = alone(running.filter((text) => !denied(text)));
      expect(missed.length / running.length).toBeLessThanOrEqual(MISSED_UNDER_DENIALS);
    },
    1_200_000,
  );
});
