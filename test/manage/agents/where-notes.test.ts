import { expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { expressionNotes } from '../../../src/manage/agents/expression-notes.js';
import type { StepCatalogue } from '../../../src/manage/agents/steps-catalogue.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';

const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  additionalProperties: false,
});
const CATALOGUE: StepCatalogue = {
  owner: 'any agent',
  isOfAgent: false,
  isComplete: true,
  steps: [
    {
      type: 'tool',
      name: 'approve',
      input_schema: closed({ claim: { type: 'string' } }),
      output_schema: closed({ claimId: { type: 'integer' } }),
    },
    {
      type: 'tool',
      name: 'pay',
      input_schema: closed({ claimId: { type: 'integer' } }),
      output_schema: null,
    },
  ],
};

function notesOf(...where: string[]) {
  const config = {
    op: 'formerly',
    within: '1h',
    event: { kinds: ['response'], step_names: ['approve'], where },
  };
  const definition = {
    scope: { step_names: ['pay'], stages: ['pre'] },
    condition: { selector: { path: '*' }, evaluator: { name: 'history', config } },
    action: { decision: 'deny' },
  } as unknown as ControlDefinition;
  const { notes, refused } = expressionNotes(definition, CATALOGUE);
  return [...notes, ...refused.map(({ warning }) => warning)].map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

it('where is typed by the schemas of the event and of the present step', () => {
  expect(notesOf('event.output.claimId == input.claimId')).toEqual([]);
  // The members of one are not those of the other.
  expect(notesOf('true', 'event.input.claimId == input.claimId')).toEqual([
    expect.stringMatching(
      /^data\.condition\.evaluator\.config\.event\.where\[1\]: at character 13: .*claimId/,
    ),
  ]);
  expect(notesOf('event.input.claim == "a" && input.claim == "b"')).toEqual([
    expect.stringMatching(/where\[0\]: at character 35: .*did you mean "?claimId.*\(by the schemas of steps/),
  ]);
  expect(notesOf('event.output.claimId > "a"')).toEqual([expect.stringMatching(/where\[0\]: at character/)]);
});
