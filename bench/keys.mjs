/**
 * The check of a key among 10,000 keys of the database against ten: the work of a call between its headers and its caller.
 * Both rings take turns in every round, the ratio is the median over rounds. Nothing here fails on speed; a key that is not
 * found ends the run.
 */

import { DEFAULT_ROLES } from '../dist/src/contract/call/scopes.js';
import { hashOfSecret, newSecret } from '../dist/src/manage/keys/key-secret.js';
import { KeyRing } from '../dist/src/serve/auth/key-ring.js';
import { createStoredKeys } from '../dist/src/serve/auth/stored-keys.js';
import { ratesOf, rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 21);
/** CPU time of one ring in one round, in milliseconds. */
const BUDGET_MS = Number(process.env.BENCH_BUDGET_MS ?? 100);
/** Keys that calls come with: as many in both rings. */
const USED = 10;

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

/** Checks the keys that calls come with, by their numbers. @param {string} name @param {{ ring: KeyRing, used: string[] }} keys */
function subjectOf(name, { ring, used }) {
  return { name, decide: (/** @type {number} */ index) => ring.find(used[index] ?? '') !== undefined };
}

const few = ringOf(10);
const many = ringOf(10_000);
const rates = await ratesOf({
  subjects: [subjectOf('few', few), subjectOf('many', many)],
  steps: Array.from({ length: USED }, (_, index) => index),
  expected: true,
  rounds: ROUNDS,
  budgetMs: BUDGET_MS,
});
report('keys', [
  rowOf('service check of 10000 keys / 10 keys', 'checks per CPU s', rates('many'), rates('few')),
  { name: 'service 10000 keys taken over at the start', value: many.loadMs, unit: 'ms' },
  { name: 'service 10000 keys taken over after a change', value: many.changeMs, unit: 'ms' },
]);
