import { expect, it } from 'vitest';
import { expectFindings } from '../../packages/detectors/test/shell/shell-battery-run.js';
import { unexplainedDifferences } from '../../packages/detectors/test/shell/shell-differential.js';
import { canRunTexts } from '../../packages/detectors/test/shell/shell-sandbox.js';
import { fuzzSeed } from '../serve/wire/random.js';

const LINES = 10_000;
/**
 * Broken lines of shapes that are in no list, such as a backslash at the end of the text: about one in a run. Either kind is
 * safe: what only the reader refuses is a finding, and of what only bash refuses nothing runs.
 */
const MOST_UNEXPLAINED = 5;

it(`judges ${LINES} command lines as bash -n does, with the listed exceptions`, { timeout: 900_000 }, () => {
  const seed = fuzzSeed();
  const found = unexplainedDifferences(seed, LINES);
  console.log(`shell differential, seed ${seed}: ${JSON.stringify(found)}`);
  expect(found.unexplained.length).toBeLessThanOrEqual(MOST_UNEXPLAINED);
});

const TEXTS = 20_000;

it.each(['/bin/bash', '/usr/bin/dash'].filter(canRunTexts))(
  'finds what %s runs beside an allow list',
  { timeout: 3_600_000 },
  (shell) => expectFindings(shell, TEXTS),
);
