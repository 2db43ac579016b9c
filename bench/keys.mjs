/**
 * The check of a key among 10,000 keys of the database against ten: the work of a call between its headers and its caller.
 * Both rings take turns in every round, the ratio is the median over rounds. Nothing here fails on speed; a key that is not
 * found ends the run.
 */

import { DEFAULT_ROLES } from '../dist/src/contract/call/scopes.js';
import { hashOfSecret, newSecret } from '../dist/src/keys/key-secret.js';
import { KeyRing } from '../dist/src/transport/auth/key-ring.js';
import { createStoredKeys } from '../dist/src/transport/auth/stored-keys.js';
import { cpuMsSince, createSeries, rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 21);
/** CPU time of one ring in one round, in milliseconds. */
const BUDGET_MS = Number(process.env.BENCH_BUDGET_MS ?? 100);
/** Keys that calls come with: as many in both rings. */
const USED = 10;
const BATCH = 1_000;

/** @param {number} count */
function ringOf(count) {
  const secrets = Array.from({ length: count }, newSecret);
  const keys = secrets.map((secret, index) => ({
    id: index + 1,
    namespace: 'default',
    name: `key ${index}`,
    role: 'agent',
    scopes: null,
    agents: null,
    hash: hashOfSecret(secret),
    previousHash: null,
    previousUntilMs: null,
    expiresAtMs: null,
  }));
  const ring = new KeyRing({ keys: [], adminKeys: [] });
  const storedKeys = createStoredKeys(DEFAULT_ROLES);
  const begun = performance.now();
  ring.replaceStored(storedKeys(keys));
  const loadMs = performance.now() - begun;
  const again = performance.now();
  ring.replaceStored(storedKeys(keys.slice(1)));
  const changeMs = performance.now() - again;
  ring.replaceStored(storedKeys(keys));
  const used = secrets.filter((_secret, index) => index % Math.max(1, count / USED) < 1).slice(0, USED);
  return { ring, used, loadMs, changeMs };
}

/** Checks per CPU second. @param {{ ring: KeyRing, used: string[] }} subject */
function rateOf({ ring, used }) {
  const before = process.cpuUsage();
  let checks = 0;
  let elapsedMs = 0;
  do {
    for (let batch = 0; batch < BATCH; batch += 1) {
      if (ring.find(used[batch % used.length] ?? '') === undefined) throw new Error('a key was not found');
    }
    checks += BATCH;
    elapsedMs = cpuMsSince(before);
    // A busy machine may take the whole budget before the first check.
  } while (elapsedMs < BUDGET_MS);
  return checks / (elapsedMs / 1_000);
}

const few = ringOf(10);
const many = ringOf(10_000);
/** @type {ReturnType<typeof createSeries<number>>} */
const rates = createSeries();
for (let round = 0; round < ROUNDS; round += 1) {
  // The first of a round is not always the same one.
  const turns = /** @type {const} */ ([
    ['few', few],
    ['many', many],
  ]);
  for (const [name, subject] of round % 2 === 0 ? turns : [...turns].reverse())
    rates.add(name, rateOf(subject));
}
report('keys', [
  rowOf('service check of 10000 keys / 10 keys', 'checks per CPU s', rates.of('many'), rates.of('few')),
  { name: 'service 10000 keys taken over at the start', value: many.loadMs, unit: 'ms' },
  { name: 'service 10000 keys taken over after a change', value: many.changeMs, unit: 'ms' },
]);
