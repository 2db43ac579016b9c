import { beforeAll, describe, expect, it } from 'vitest';
import { evaluate } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { HOSTILE_CASES } from './all-cases.js';
import { prepareCase, replyProblem } from './hostile-case.js';

const service = suiteService({ SERVICE_LOG_LEVEL: 'error' });
const { call, seed } = service;
beforeAll(async () => {
  await seed.linked('ordinary-agent', 'ordinary-control');
});

describe('a hostile', () => {
  it('suite has at least 40 cases, each with a name of its own', () => {
    expect(HOSTILE_CASES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(HOSTILE_CASES.map(({ name }) => name)).size).toBe(HOSTILE_CASES.length);
  });

  it.each(HOSTILE_CASES.map((hostile, index) => ({ ...hostile, index })))(
    '$name is refused or answered, and the service keeps running',
    async ({ index, ...hostile }) => {
      const prepared = await prepareCase(call, hostile, index);
      expect(replyProblem(hostile, await prepared.attack())).toBeUndefined();
      const [bad, good] = [
        await evaluate(call, 'ordinary-agent', 'bad'),
        await evaluate(call, 'ordinary-agent', 'ok'),
      ];
      expect([bad.body.is_safe, good.body.is_safe]).toEqual([false, true]);
    },
  );
});
