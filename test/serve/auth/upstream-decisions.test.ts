import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { DEFAULT_ROLES, scopeMask } from '../../../src/contract/call/scopes.js';
import type { ProtectedMethod } from '../../../src/serve/auth/protected-method.js';
import type { UpstreamGrant, UpstreamQuestion } from '../../../src/serve/auth/upstream-client.js';
import {
  createForwardedText,
  createUpstreamDecisions,
  type UpstreamDecisions,
} from '../../../src/serve/auth/upstream-decisions.js';
import { refusal, unavailable } from '../../../src/serve/auth/upstream-errors.js';
import { operationScopes } from '../../../src/serve/auth/upstream-rights.js';

const method = (operation: string, scope: string): ProtectedMethod => ({
  access: Access.KEY,
  operation,
  scopes: [scope],
  scopeMask: scopeMask([scope]),
});
const READ = method('controls.read', 'controls.read');
const USE = method('runtime.use', 'evaluate');
const GRANT: UpstreamGrant = {
  namespace: 'default',
  isAdmin: false,
  callerId: 'erin',
  target: null,
  scopes: [],
  expiresAtMs: null,
};
const TARGET = { type: 'log_stream', id: 'checkout' };
const textOf = createForwardedText([]);
const KEY = textOf({ 'x-api-key': 'a' }) ?? '';
const OTHER_KEY = textOf({ 'x-api-key': 'b' }) ?? '';
const START = 1_000_000;

let nowMs: number;
let asked: UpstreamQuestion[];
let answer: (question: UpstreamQuestion) => Promise<UpstreamGrant>;
let failures: number;
let decisions: UpstreamDecisions;

function decisionsWith(cacheMs: number): UpstreamDecisions {
  return createUpstreamDecisions({
    client: {
      ask(question) {
        asked.push(question);
        return answer(question);
      },
    },
    settings: { cacheMs },
    operations: operationScopes([READ, USE]),
    roles: DEFAULT_ROLES,
    now: () => nowMs,
    onFailure: () => {
      failures += 1;
    },
  });
}

beforeEach(() => {
  nowMs = START;
  asked = [];
  failures = 0;
  answer = async () => GRANT;
  decisions = decisionsWith(5_000);
});

describe('a permission', () => {
  it('is known for its time, for its credentials, its operation and its target', async () => {
    expect(decisions.knows(KEY, READ)).toBe(false);
    expect(decisions.find(KEY, READ)).toBeUndefined();
    await decisions.ask(KEY, READ);
    expect(asked).toEqual([{ operation: 'controls.read', target: null, headers: { 'x-api-key': 'a' } }]);
    expect(decisions.find(KEY, READ)).toMatchObject({ level: 'key', name: 'erin', role: 'regular' });
    expect([decisions.knows(KEY, USE), decisions.knows(OTHER_KEY, READ)]).toEqual([false, false]);
    nowMs += 4_999;
    await decisions.ask(KEY, READ);
    expect(asked).toHaveLength(1);
    nowMs += 1;
    expect(decisions.knows(KEY, READ)).toBe(false);
    await decisions.ask(KEY, READ);
    expect(asked).toHaveLength(2);
  });
  it('never outlasts what it states itself', async () => {
    answer = async () => ({ ...GRANT, expiresAtMs: START + 1_000 });
    expect(await decisions.ask(KEY, READ)).toMatchObject({ expiresAtMs: START + 1_000 });
    nowMs += 999;
    expect(decisions.knows(KEY, READ)).toBe(true);
    nowMs += 1;
    expect(decisions.knows(KEY, READ)).toBe(false);
    expect(() => decisions.find(KEY, READ)).toThrow(/expired/);
  });
  it('is asked for once at a time', async () => {
    const all = await Promise.all([
      decisions.ask(KEY, READ),
      decisions.ask(KEY, READ),
      decisions.ask(KEY, USE),
    ]);
    expect(asked).toHaveLength(2);
    expect(all[0]).toBe(all[1]);
  });
  it('is not kept without time for it', async () => {
    decisions = decisionsWith(0);
    await decisions.ask(KEY, READ);
    expect(decisions.knows(KEY, READ)).toBe(false);
  });
  it('is forgotten when too many are known', async () => {
    for (let index = 0; index < 10_001; index += 1)
      await decisions.ask(textOf({ 'x-api-key': `k${index}` }) ?? '', READ);
    expect(decisions.knows(textOf({ 'x-api-key': 'k0' }) ?? '', READ)).toBe(false);
    expect(decisions.knows(textOf({ 'x-api-key': 'k1' }) ?? '', READ)).toBe(true);
  });
  it('limits a caller to what is listed, by operations and scopes', async () => {
    answer = async () => ({ ...GRANT, isAdmin: true, scopes: ['runtime.use', 'controls.read', 'no.such'] });
    const { scopes, role } = await decisions.ask(KEY, READ);
    expect([scopes, role]).toEqual([scopeMask(['controls.read', 'evaluate']), null]);
    answer = async () => ({ ...GRANT, scopes: ['runtime.use'] });
    await expect(decisions.ask(OTHER_KEY, READ)).rejects.toMatchObject({
      code: 'AUTH_INSUFFICIENT_PRIVILEGES',
    });
  });
  it('has the same caller for all its credentials', async () => {
    const [one, two] = [await decisions.ask(KEY, READ), await decisions.ask(OTHER_KEY, READ)];
    expect(one.keyFingerprint).toBe(two.keyFingerprint);
    expect(decisions.fingerprintOf(KEY)).toBe(one.keyFingerprint);
    answer = async () => ({ ...GRANT, callerId: null });
    const [three, four] = [await decisions.ask(KEY, USE), await decisions.ask(OTHER_KEY, USE)];
    expect(three.keyFingerprint).not.toBe(four.keyFingerprint);
  });
});

describe('a refusal', () => {
  it('is known for a second', async () => {
    answer = () => Promise.reject(refusal(403));
    await expect(decisions.ask(KEY, READ)).rejects.toMatchObject({ code: 'AUTH_INSUFFICIENT_PRIVILEGES' });
    nowMs += 999;
    expect(() => decisions.find(KEY, READ)).toThrow(/does not permit/);
    await expect(decisions.ask(KEY, READ)).rejects.toThrow(/does not permit/);
    expect(asked).toHaveLength(1);
    nowMs += 1;
    answer = async () => GRANT;
    await decisions.ask(KEY, READ);
    expect([asked.length, failures]).toEqual([2, 0]);
  });
  it('is none if the service could not be asked, which is told', async () => {
    answer = () => Promise.reject(unavailable('cannot be reached'));
    await expect(decisions.ask(KEY, READ)).rejects.toMatchObject({ code: 'AUTH_MISCONFIGURED' });
    expect(decisions.knows(KEY, READ)).toBe(false);
    expect(failures).toBe(1);
  });
});

describe('the target of an evaluation', () => {
  it('is asked about unless its answer is known', async () => {
    const { grant } = await decisions.ask(KEY, USE);
    await grant?.askTarget?.(TARGET);
    expect(asked.map(({ target }) => target)).toEqual([null, TARGET]);
    expect(grant?.askTarget?.(TARGET)).toBeUndefined();
    nowMs += 5_000;
    expect(grant?.askTarget?.(TARGET)).toBeInstanceOf(Promise);
  });
  it.each([
    ['another target', { ...GRANT, target: { type: 'log_stream', id: 'other' } }],
    ['another namespace', { ...GRANT, namespace: 'elsewhere' }],
  ])('is refused when it is permitted for %s', async (_what, grantOfTarget) => {
    const { grant } = await decisions.ask(KEY, USE);
    answer = async () => grantOfTarget;
    await expect(grant?.askTarget?.(TARGET)).rejects.toMatchObject({ code: 'AUTH_INSUFFICIENT_PRIVILEGES' });
    expect(() => grant?.askTarget?.(TARGET)).toThrow(/permits this one only/);
  });
  it('is of no interest to other operations', async () => {
    const { grant } = await decisions.ask(KEY, READ);
    expect(grant?.askTarget?.(TARGET)).toBeUndefined();
  });
});

describe('the permission of a call that lasts', () => {
  it('is asked for again, and must stay as it is', async () => {
    const { grant } = await decisions.ask(KEY, READ);
    nowMs += 5_000;
    await grant?.renewal?.ask();
    expect(asked).toHaveLength(2);
    nowMs += 5_000;
    answer = async () => ({ ...GRANT, namespace: 'elsewhere' });
    await expect(grant?.renewal?.ask()).rejects.toThrow(/in the namespace elsewhere/);
    nowMs += 5_000;
    answer = () => Promise.reject(refusal(401));
    await expect(grant?.renewal?.ask()).rejects.toMatchObject({ code: 'AUTH_INVALID_KEY' });
  });
});
