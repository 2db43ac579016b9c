import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import type { ControlInput, Step } from '../../../src/kernel/core/types.js';
import { regexEvaluator } from '../../../src/kernel/evaluators/regex/regex.js';
import { compileProgram } from './compile-program.js';

/** Says that it took as many steps as it is told to, and matches where it is told to. */
const costly: Evaluator = {
  ...regexEvaluator,
  name: 'costly',
  compile: ({ steps, matched }) => ({
    evaluate(_data, call) {
      call.spend?.(steps as number);
      return { matched: matched === true, confidence: 1, message: null, metadata: null, error: null };
    },
  }),
};
const registry = new Map([[costly.name, costly]]);
const STEP: Step = { type: 'llm', name: 'answer', input: 'x', output: null, context: null };

const leaf = (steps: number, matched = false, nth = 0) => ({
  selector: { path: 'input' },
  evaluator: { name: 'costly', config: { steps, matched, nth } },
});
const control = (id: number, condition: object, decision = 'deny'): ControlInput => ({
  id,
  name: `control-${id}`,
  definition: { execution: 'server', enabled: true, condition, action: { decision }, scope: {} } as never,
});

function program(controls: ControlInput[], onTurn?: () => void) {
  const nextTurn = async () => {
    onTurn?.();
    await setImmediate();
  };
  return compileProgram(controls, { registry, newExecutionId: () => 'id', ...(onTurn && { nextTurn }) });
}
const many = (count: number, steps: number) =>
  Array.from({ length: count }, (_, id) => control(id + 1, leaf(steps, false, id)));

describe('an evaluation', () => {
  it('of cheap checks takes one turn', () => {
    const verdict = program(many(100, 1_000), () => expect.unreachable()).evaluate(STEP, 'pre', 'full');
    expect(verdict).toMatchObject({ is_safe: true });
  });

  it('of costly checks yields turns to others, and gives the same result', async () => {
    let turns = 0;
    const controls = [
      ...many(20, 1_000_000),
      control(50, { and: [leaf(900_000, true, 1), { not: leaf(900_000, false, 2) }] }),
      control(60, { or: [leaf(900_000, false, 3), leaf(1, true, 4)] }, 'observe'),
    ];
    const verdict = await program(controls, () => {
      turns += 1;
    }).evaluate(STEP, 'pre', 'full');
    expect(turns).toBeGreaterThanOrEqual(10);
    expect(verdict).toEqual(program(controls).evaluate(STEP, 'pre', 'full'));
    expect(verdict.matches.map(({ control_id }) => control_id)).toEqual([60, 50]);
  });

  it('that takes too much ends with errors, and the next one begins anew', async () => {
    const costlyProgram = program(many(120, 1_000_000), () => {});
    const verdict = await costlyProgram.evaluate(STEP, 'pre', 'full');
    expect(verdict).toMatchObject({ is_safe: false, confidence: 0 });
    expect(verdict.errors).toHaveLength(19);
    expect(verdict.non_matches).toHaveLength(101);
    expect(await costlyProgram.evaluate(STEP, 'pre', 'full')).toEqual(verdict);
  });
});
