import { describe, expect, it } from 'vitest';
import { type TraceMaker, wireTraces } from '../../../src/kernel/core/trace.js';
import type { Detail } from '../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator } from './support.js';

/** The traces of the wire, counted. */
function countingTraces() {
  let made = 0;
  const counted =
    <A extends unknown[], R>(make: (...of: A) => R) =>
    (...of: A): R => {
      made += 1;
      return make(...of);
    };
  const traces: TraceMaker = {
    leaf: counted(wireTraces.leaf),
    skippedLeaf: counted(wireTraces.skippedLeaf),
    composite: counted(wireTraces.composite),
    skippedComposite: counted(wireTraces.skippedComposite),
  };
  return { traces, made: () => made };
}

const slow = fakeEvaluator('slow', async () => aResult());
const model = fakeEvaluator('model', async () => aResult({ matched: false }), { external: true });
const failing = fakeEvaluator('failing', () => {
  throw new Error('broken');
});
const hello = aLeaf('regex', { pattern: 'hello' });
const goodbye = aLeaf('regex', { pattern: 'goodbye' });
const list = aLeaf('list', { values: ['hello'] }, 'input.q');

/** Controls that match, do not match and fail, with every kind of node, early ends included. */
const definitions = [
  aDefinition(hello, 'observe'),
  aDefinition(goodbye, 'observe'),
  aDefinition(list, 'observe'),
  aDefinition(aLeaf('failing'), 'observe'),
  aDefinition({ and: [goodbye, hello, { or: [hello, goodbye] }] }, 'observe'),
  aDefinition({ or: [hello, { not: goodbye }] }, 'observe'),
  aDefinition({ and: [hello, { not: goodbye }, { or: [aLeaf('failing'), hello] }] }, 'observe'),
  aDefinition({ not: { and: [aLeaf('slow'), goodbye] } }, 'observe'),
  aDefinition({ or: [aLeaf('model'), aLeaf('slow')] }, 'observe'),
  aDefinition(null, 'observe'),
  aDefinition(hello, 'observe', { scope: { step_name_regex: '(' } }),
];

async function tracesMade(detail: Detail): Promise<number> {
  const { traces, made } = countingTraces();
  const verdict = await aProgram(definitions, [slow, model, failing], { traces }).evaluate(
    aStep(),
    'pre',
    detail,
  );
  expect(verdict.matches.length).toBeGreaterThan(0);
  expect(verdict.errors.length).toBeGreaterThan(0);
  return made();
}

describe('detail verdict', () => {
  it('makes no trace of anything, where detail full makes one for every node', async () => {
    expect(await tracesMade('verdict')).toBe(0);
    expect(await tracesMade('full')).toBeGreaterThan(20);
  });

  it('takes what a search found as it is: nothing is made for a control that does not match', () => {
    const seen: unknown[] = [];
    const answer = aResult({ matched: false, metadata: { a: 1 } });
    const same = fakeEvaluator('same', () => {
      seen.push(answer);
      return answer;
    });
    let executions = 0;
    const program = aProgram([aDefinition({ not: { not: aLeaf('same') } })], [same], {
      newExecutionId: () => {
        executions += 1;
        return 'id';
      },
    });
    expect(program.evaluate(aStep(), 'pre', 'verdict')).toEqual({
      is_safe: true,
      confidence: 1,
      reason: null,
      matches: [],
      errors: [],
      non_matches: [],
      selected_controls: 1,
      evaluated_controls: 1,
      skipped_controls: 0,
    });
    expect([seen.length, executions]).toEqual([1, 0]);
  });
});
