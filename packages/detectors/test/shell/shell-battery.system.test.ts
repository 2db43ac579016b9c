import { describe, it } from 'vitest';
import { expectFindings } from './shell-battery-run.js';
import { canRunTexts } from './shell-sandbox.js';

/** Each starts some processes: more of them are in `test/long/shell.long.ts`. */
const TEXTS = 4_000;

describe.each(['/bin/bash', '/usr/bin/dash'])('texts that %s runs', (shell) => {
  it.skipIf(!canRunTexts(shell))(
    'run no program that an allow list does not have without a finding',
    () => expectFindings(shell, TEXTS),
    1_200_000,
  );
});
