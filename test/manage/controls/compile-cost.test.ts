import { describe, expect, it } from 'vitest';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { serviceRegistry } from '../../support/evaluators.js';

const schema = createDefinitionSchema(serviceRegistry);

function definition(patterns: readonly string[]) {
  return {
    execution: 'server',
    condition: {
      or: patterns.map((pattern) => ({ selector: {}, evaluator: { name: 'regex', config: { pattern } } })),
    },
    action: { decision: 'deny' },
  };
}

describe('the patterns of one definition', () => {
  it('may be many when they are small', () => {
    const patterns = Array.from({ length: 1_500 }, (_, index) => `word-${index}`);
    expect(inputItems(schema, definition(patterns)).items).toEqual([]);
  });

  it('are refused together when compiling them all would hold everything else up', () => {
    const patterns = Array.from({ length: 1_500 }, (_, index) => `(?:a${index}){800}`);
    const { items } = inputItems(schema, definition(patterns));
    expect(items).toEqual([
      expect.objectContaining({
        code: 'value_error',
        message: expect.stringContaining('too much to compile'),
      }),
    ]);
  });
});
