import { describe, expect, it } from 'vitest';
import { runBattery } from './shell-battery-run.js';
import { canRunTexts } from './shell-sandbox.js';

/** Each starts some processes: more of them are in `test/long/shell.long.ts`. */
const TEXTS = 4_000;
/** Share of the texts that run a denied program without a finding: values of variables that are evaluated. */
const MISSED_UNDER_DENIALS = 0.02;

describe.each(['/bin/bash', '/usr/bin/dash'])('texts that %s runs', (shell) => {
  it.skipIf(!canRunTexts(shell))(
    'run no program that an allow list does not have without a finding',
    () => {
      const { running, allowed, missed } = runBattery(shell, TEXTS);
      expect(running).toBeGreaterThan(TEXTS / 20);
      expect(allowed).toEqual([]);
      expect(missed.length / running).toBeLessThanOrEqual(MISSED_UNDER_DENIALS);
    },
    1_200_000,
  );
});
