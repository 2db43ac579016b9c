import { toJson } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { StepSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { readSteps } from '../../../packages/dashboard/src/packs/preview-steps.js';
import { testCasesText } from '../../../packages/dashboard/src/playground/test-cases.js';

const STEP = { type: 'tool', name: 'send_mail', input: { text: 'x', list: [1, null, true] } };

/** What is read, with the steps as JSON. */
const read = (value: unknown, stage = Stage.PRE) =>
  readSteps(typeof value === 'string' ? value : JSON.stringify(value), stage).map((one) => ({
    ...one,
    step: toJson(StepSchema, one.step),
  }));

describe('the steps that a pack is tried with', () => {
  it('are one step, or a list of them', () => {
    expect(read(STEP)).toEqual([{ name: 'tool send_mail', step: STEP, stage: Stage.PRE }]);
    const full = { ...STEP, output: 'done', context: { a: 1 } };
    expect(read([STEP, full], Stage.POST)).toEqual([
      { name: 'tool send_mail', step: STEP, stage: Stage.POST },
      { name: 'tool send_mail', step: full, stage: Stage.POST },
    ]);
    expect(read('')).toEqual([]);
  });

  it('are those of a file of test cases, each with its own name and stage', () => {
    const text = testCasesText([
      {
        name: 'a card in a mail',
        agent: 'billing-bot-01',
        stage: 'post',
        step: JSON.stringify(STEP),
        expected: { outcome: 'deny', matches: [] },
        revision: 3,
      },
    ]);
    expect(read(text)).toEqual([{ name: 'a card in a mail', step: STEP, stage: Stage.POST }]);
  });

  it.each<[unknown, string]>([
    ['{', 'This is not JSON'],
    [[], ''],
    [[STEP, 3], 'Step 2 is not an object.'],
    [{ name: 'a', input: {} }, 'The step has no "type", such as "tool".'],
    [[STEP, { type: 'tool', name: 7 }], 'Step 2 has no "name".'],
    [Array.from({ length: 21 }, () => STEP), 'These are 21 steps; a preview takes at most 20.'],
  ])('are refused with a reason: %j', (value, reason) => {
    if (reason === '') expect(read(value)).toEqual([]);
    else expect(() => read(value)).toThrow(reason);
  });
});
