import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { freeObject, text } from '../../../src/contract/input/fields.js';
import { MAX_ERROR_ITEMS } from '../../../src/contract/input/items.js';
import { agentName, normaliseAgentName, readAgentName, slugName } from '../../../src/contract/input/names.js';
import { inputItems, parseInput } from '../../../src/contract/input/parse-input.js';
import { errorOf } from '../../support/service-error.js';

const schema = z.object({
  name: text(),
  agent: z.object({ id: text() }),
  data: freeObject(),
  policy: text(),
});

describe('parseInput', () => {
  it('gives what the schema reads', () => {
    const input = { name: 'a', agent: { id: 'b' }, data: {}, policy: 'p', surplus: 1 };
    expect(parseInput(schema, input)).toEqual({ name: 'a', agent: { id: 'b' }, data: {}, policy: 'p' });
  });
  it('reports every problem at once, in the order of the schema', () => {
    const error = errorOf(() => parseInput(schema, { policy: 1, data: [], agent: {} }));
    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.options.requestValidation).toBe(true);
    expect(error.options.detail).toContain('4 problems');
    expect(error.options.hint).toBeDefined();
    expect(error.options.items?.map(({ resource, field, code }) => `${resource} ${field} ${code}`)).toEqual([
      'Request name missing',
      'Agent agent.id missing',
      'Control data dict_type',
      'Policy policy string_type',
    ]);
  });
  it.each<[string, JsonValue | undefined, string]>([
    ['absent', undefined, 'missing'],
    ['null', null, 'missing'],
    ['a text', 'x', 'model_attributes_type'],
    ['a list', [], 'model_attributes_type'],
    ['a number', 5, 'model_attributes_type'],
  ])('reports a body that is %s without a field', (_name, value, code) => {
    const { items } = inputItems(schema, value);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ resource: 'Request', code });
    expect(items[0]).not.toHaveProperty('field');
  });
  it('keeps a bounded number of items', () => {
    const wide = z.object({ list: z.array(text()) });
    const error = errorOf(() => parseInput(wide, { list: Array(MAX_ERROR_ITEMS + 5).fill(1) }));
    expect(error.options.items).toHaveLength(MAX_ERROR_ITEMS);
    expect(error.options.detail).toContain(`${MAX_ERROR_ITEMS + 5} problems`);
  });
});

describe('an agent name', () => {
  it.each<[JsonValue, string]>([
    ['billing-bot-01', 'billing-bot-01'],
    ['  Billing-BOT-01\n', 'billing-bot-01'],
    ['team:a_b-c:1', 'team:a_b-c:1'],
    [1234567890, '1234567890'],
    ['a'.repeat(255), 'a'.repeat(255)],
  ])('is normalised from %j', (value, name) => {
    expect(normaliseAgentName(value)).toBe(name);
    expect(parseInput(agentName(), value)).toBe(name);
    expect(normaliseAgentName(name)).toBe(name);
  });
  it.each<[JsonValue]>([
    ['short'],
    [' nine-char '],
    ['with space 1'],
    ['ümlaut-name'],
    ['name\nsecond-line'],
    ['a'.repeat(256)],
    [null],
    [true],
    [['billing-bot-01']],
    [{}],
    [123456789],
    [123456789.5],
    [''],
  ])('is refused from %j', (value) => {
    expect(inputItems(z.object({ agent_name: agentName() }), { agent_name: value }).items).toMatchObject([
      { resource: 'Request', field: 'agent_name', code: 'value_error' },
    ]);
  });
  it('is required in a body', () => {
    expect(inputItems(z.object({ agent_name: agentName() }), {}).items).toMatchObject([{ code: 'missing' }]);
  });
  it.each(['agent_name', 'cursor'] as const)(
    'in a path or query is an error about the agent at %s',
    (member) => {
      expect(readAgentName(' Billing-BOT-01', member)).toBe('billing-bot-01');
      const { code, options } = errorOf(() => readAgentName('initAgent', member));
      expect(code).toBe('VALIDATION_ERROR');
      expect(options.kind).toBe('Agent');
      expect(options.requestValidation).toBeUndefined();
      expect(options.items).toMatchObject([{ resource: 'Agent', field: member, code: 'invalid_format' }]);
      expect(options.items).toHaveLength(1);
    },
  );
});

describe('a control name', () => {
  it.each(['a', 'A-b_9', ' trimmed ', 'x'.repeat(255)])('may be %j', (name) => {
    expect(parseInput(slugName(), name)).toBe(name.trim());
  });
  it.each<[JsonValue | undefined, string]>([
    ['', 'too_short'],
    ['  ', 'too_short'],
    ['x'.repeat(256), 'too_long'],
    ['-a', 'string_pattern_mismatch'],
    ['_a', 'string_pattern_mismatch'],
    ['a b', 'string_pattern_mismatch'],
    ['é', 'string_pattern_mismatch'],
    [5, 'string_type'],
    [null, 'string_type'],
    [undefined, 'missing'],
  ])('from %j is refused as %s', (value, code) => {
    expect(inputItems(slugName(), value).items).toMatchObject([{ code }]);
  });
});
