import { expect, it } from 'vitest';
import { compareWithServer, PATIENT } from '../suite/agreement.support.js';
import { suiteService } from '../support/service-suite.js';

const PAIRS = Number(process.env.VERIFY_PAIRS ?? 10_000);
const service = suiteService(PATIENT, { keepsLines: false });

it(`offline verdicts are those of the service, on ${PAIRS} pairs of controls and a step`, {
  timeout: 1_800_000,
}, async () => {
  const seed = Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const compared = await compareWithServer(service, PAIRS, seed);
  console.log(`offline against the service, seed ${seed}: ${JSON.stringify(compared)}`);
  expect(compared.pairs).toBeGreaterThanOrEqual(PAIRS);
});
