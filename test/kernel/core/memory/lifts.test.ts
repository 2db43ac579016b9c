import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ControlProgram, Verdict } from '../../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf } from '../support.js';
import { EVALUATORS, FakeMemory, kept, remembered } from './support.js';

const asking = (condition: JsonObject): JsonObject => ({
  execution: 'server',
  condition,
  scope: { stages: ['pre'] },
  action: { decision: 'deny', approval: { approvers: ['role:approver'] } },
});

/** The program with lifted controls. */
function lifting(program: ControlProgram, ...ids: number[]): Pick<ControlProgram, 'evaluate'> {
  return {
    evaluate: (step, stage, detail, caller, spent, agent, kept) =>
      program.evaluate(step, stage, detail, caller, spent, agent, kept, new Set(ids)),
  };
}

const program = (...definitions: JsonObject[]) => aProgram(definitions, EVALUATORS);
const yes = aLeaf('yes');

describe('controls with memory beside one that asks', () => {
  it.each([
    ['match', null],
    ['miss', [1]],
    ['error', null],
  ] as const)('are asked in a trial, so that their %s counts', async (answer, ids) => {
    const both = program(asking(yes), aDefinition(kept({ id: 'a', answer })));
    const memory = new FakeMemory();
    const verdict = await remembered(both, memory, { isTrial: true });
    expect(verdict).toMatchObject({ is_safe: false, skipped_controls: 0 });
    expect(both.lifts?.of(verdict)?.asking.map(({ id }) => id) ?? null).toEqual(ids);
    expect(memory.plans.map((plan) => plan.isTrial)).toEqual([true]);
  });

  it('are left out where it is not lifted, and nothing is counted', async () => {
    const memory = new FakeMemory();
    const verdict = await remembered(program(asking(yes), aDefinition(kept({ id: 'a' }))), memory);
    expect(verdict).toMatchObject({ is_safe: false, skipped_controls: 1 });
    expect([memory.allowed, memory.additions]).toEqual([false, []]);
  });

  it('count the step once it is lifted', async () => {
    const both = program(asking(yes), aDefinition(kept({ id: 'a', limit: 1 })));
    const memory = new FakeMemory();
    const verdicts: Verdict[] = [];
    for (const stepId of ['one', 'two']) {
      verdicts.push(await remembered(lifting(both, 1), memory, { step: aStep({ input: { q: stepId } }) }));
    }
    expect(verdicts.map(({ is_safe }) => is_safe)).toEqual([true, false]);
    expect(verdicts.map(({ matches }) => idsOf(matches))).toEqual([[1], [2, 1]]);
  });

  it('may ask themselves', async () => {
    const limited = program(asking(kept({ id: 'a', answer: 'match' })), aDefinition(aLeaf('no')));
    const memory = new FakeMemory();
    const first = await remembered(limited, memory, { isTrial: true });
    expect(limited.lifts?.of(first)?.asking.map(({ id }) => id)).toEqual([1]);
    expect(await remembered(limited, memory)).toMatchObject({ is_safe: false });
    expect(memory.allowed).toBe(false);
    expect(await remembered(lifting(limited, 1), memory)).toMatchObject({ is_safe: true, reason: null });
    expect(memory.allowed).toBe(true);
  });
});
