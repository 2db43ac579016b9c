import { describe, expect, it } from 'vitest';
import { ofService, type Problem } from '../../../src/observe/problems/problem.js';
import { createProblemList } from '../../../src/observe/problems/problem-list.js';

const OFF = ofService('events_off', 'notice', 'off', '');
const STORAGE = ofService('storage', 'critical', 'storage', '');
const DOWN = ofService('database_down', 'critical', 'down', '');

/** A list with a clock of its own, and questions to the database that the test answers. */
function testList(limitMs?: number) {
  const questions: { answer(problems: Problem[]): void; fail(error: Error): void }[] = [];
  const failures: unknown[] = [];
  const clock = { ms: 0 };
  const list = createProblemList({
    known: (isMissed) => (isMissed ? [OFF, DOWN] : [OFF]),
    stored: () => new Promise((resolve, reject) => void questions.push({ answer: resolve, fail: reject })),
    onFailure: (error) => void failures.push(error),
    now: () => 1_000_000 + clock.ms,
    monotonic: () => clock.ms,
    ...(limitMs === undefined ? {} : { limitMs }),
  });
  return { list, questions, failures, clock };
}
const kinds = ({ problems }: { readonly problems: readonly Problem[] }) => problems.map(({ kind }) => kind);

describe('the list of problems', () => {
  it('is determined once for all who ask meanwhile, and for two seconds', async () => {
    const { list, questions, clock } = testList();
    expect(list.last).toBeUndefined();
    const asked = [list.current(), list.current()];
    expect(questions).toHaveLength(1);
    questions[0]?.answer([STORAGE]);
    const [first, second] = await Promise.all(asked);
    expect(first).toBe(second);
    expect(first).toMatchObject({ checkedAtMs: 1_000_000 });
    expect(kinds(first as never)).toEqual(['storage', 'events_off']);
    clock.ms = 1_999;
    expect(await list.current()).toBe(first);
    clock.ms = 2_000;
    const later = list.current();
    expect(list.last).toBe(first);
    questions[1]?.answer([]);
    expect(kinds(await later)).toEqual(['events_off']);
  });

  it('tells the rest when the database refuses', async () => {
    const { list, questions, failures } = testList();
    const asked = list.current();
    const error = new Error('gone');
    questions[0]?.fail(error);
    expect(kinds(await asked)).toEqual(['database_down', 'events_off']);
    expect(failures).toEqual([error]);
  });

  it('waits no longer than its limit, and asks again only when it was answered', async () => {
    const { list, questions, clock } = testList(1);
    expect(kinds(await list.current())).toEqual(['database_down', 'events_off']);
    clock.ms = 5_000;
    expect(kinds(await list.current())).toEqual(['database_down', 'events_off']);
    expect(questions).toHaveLength(1);
    questions[0]?.answer([STORAGE]);
    clock.ms = 10_000;
    expect(kinds(await list.current())).toEqual(['storage', 'events_off']);
    expect(questions).toHaveLength(1);
  });

  it('has the last answer for a minute when the next one is late', async () => {
    const { list, questions, clock } = testList(1);
    const first = list.current();
    questions[0]?.answer([STORAGE]);
    expect(kinds(await first)).toEqual(['storage', 'events_off']);
    clock.ms = 59_999;
    expect(kinds(await list.current())).toEqual(['database_down', 'storage', 'events_off']);
    clock.ms = 62_000;
    expect(kinds(await list.current())).toEqual(['database_down', 'events_off']);
  });
});
