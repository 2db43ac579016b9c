import { expect, it } from 'vitest';
import { suiteService } from '../support/service-suite.js';
import { compareWithServer, PATIENT } from './agreement.support.js';

const PAIRS = 200;
const service = suiteService(PATIENT);

it(`offline verdicts are those of the service, on ${PAIRS} pairs of controls and a step`, async () => {
  const { pairs, explained, outcomes } = await compareWithServer(service, PAIRS, 36);
  expect(pairs).toBeGreaterThan(PAIRS);
  expect(explained).toBeGreaterThan(0);
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['allow', 'ask', 'deny', 'steer']));
});
