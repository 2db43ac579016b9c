import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { inputItems, parseInput } from '../../../src/contract/input/parse-input.js';
import { agentSchemas } from '../../../src/manage/agents/agent-schemas.js';
import { createControlSchemas } from '../../../src/manage/controls/control-schemas.js';
import { serviceRegistry } from '../../support/evaluators.js';

const controls = createControlSchemas(serviceRegistry);
const problems = (schema: z.ZodType, value: JsonValue): string[] =>
  inputItems(schema, value).items.map(({ resource, field, code }) => `${resource} ${field} ${code}`);

const data = {
  condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } },
  execution: 'server',
  action: { decision: 'deny' },
};

describe('control requests', () => {
  it('report the name before the definition', () => {
    expect(problems(controls.createControl, {})).toEqual(['Request name missing', 'Control data missing']);
    expect(problems(controls.createControl, { data: { ...data, execution: 'x' }, name: '-' })).toEqual([
      'Request name string_pattern_mismatch',
      'Control data.execution literal_error',
    ]);
  });
  it('read path and query members from text', () => {
    const query = { cursor: '+7', limit: '5', enabled: 'yes', template_backed: 'false', name: '', tag: 'x' };
    expect(parseInput(controls.listControls, query)).toMatchObject({
      cursor: 7,
      limit: 5,
      enabled: true,
      template_backed: false,
      name: '',
      tag: 'x',
    });
    expect(parseInput(controls.deleteControl, { control_id: ' 12 ', force: '1' })).toEqual({
      control_id: 12,
      force: true,
    });
  });
  it('move a cursor beyond 32 bits to the nearest that has them', () => {
    const cursor = (value: JsonValue) => parseInput(controls.listControls, { cursor: value }).cursor;
    expect(cursor('9'.repeat(400))).toBe(2 ** 31 - 1);
    expect(cursor('-99999999999')).toBe(-(2 ** 31));
    expect(cursor('-3')).toBe(-3);
  });
  it('have defaults', () => {
    expect(parseInput(controls.listControls, {})).toMatchObject({ limit: 20 });
    expect(parseInput(controls.deleteControl, { control_id: 1 })).toEqual({ control_id: 1, force: false });
  });
  it.each<[JsonValue, string]>([
    [{ limit: '0' }, 'Request limit greater_than_equal'],
    [{ limit: '101' }, 'Request limit less_than_equal'],
    [{ limit: '' }, 'Request limit int_parsing'],
    [{ limit: '5.5' }, 'Request limit int_parsing'],
    [{ cursor: '' }, 'Request cursor int_parsing'],
    [{ cursor: 'x' }, 'Request cursor int_parsing'],
    [{ enabled: '' }, 'Request enabled bool_parsing'],
    [{ enabled: 'maybe' }, 'Request enabled bool_parsing'],
  ])('refuse the query %j', (query, expected) => {
    expect(problems(controls.listControls, query)).toEqual([expected]);
  });
  it.each([0, -1, 2 ** 31, '99999999999999999999'])(
    'leave it to the service that there is no control %s',
    (id) => {
      expect(problems(controls.getControl, { control_id: id })).toEqual([]);
    },
  );
  it('report the path before the body', () => {
    expect(problems(controls.setControlData, { data: null, control_id: 'x' })[0]).toBe(
      'Request control_id int_parsing',
    );
    expect(problems(controls.updateControl, { enabled: 'x', name: 5, control_id: '1' })).toEqual([
      'Request name string_type',
      'Request enabled bool_parsing',
    ]);
  });
  it('take null as absent when a control is updated', () => {
    const read = parseInput(controls.updateControl, { control_id: 1, name: null, enabled: null });
    expect(read).toEqual({ control_id: 1, name: undefined, enabled: undefined, strict: false });
  });
});

describe('agent requests', () => {
  it('clamp the size of a page', () => {
    const limit = (value: JsonValue) => parseInput(agentSchemas.listAgents, { limit: value }).limit;
    expect([limit('0'), limit('-5'), limit('1000'), limit('7')]).toEqual([1, 1, 100, 7]);
    expect(parseInput(agentSchemas.listAgents, {}).limit).toBe(20);
    expect(problems(agentSchemas.listAgents, { limit: 'x' })).toEqual(['Request limit int_parsing']);
  });
  it('take only the known states', () => {
    const path = { agent_name: 'Any Name' };
    expect(parseInput(agentSchemas.listAgentControls, path)).toEqual({
      ...path,
      rendered_state: 'all',
      enabled_state: 'all',
    });
    expect(
      problems(agentSchemas.listAgentControls, { ...path, rendered_state: 'x', enabled_state: '' }),
    ).toEqual(['Request rendered_state literal_error', 'Request enabled_state literal_error']);
  });
  it('register an agent with every member present', () => {
    const read = parseInput(agentSchemas.initAgent, {
      agent: { agent_name: ' Billing-Bot-01' },
      steps: [{ type: 'tool', name: 'refund' }],
      evaluators: [{ name: ' x ' }],
    });
    expect(read).toStrictEqual({
      agent: {
        agent_name: 'billing-bot-01',
        agent_description: null,
        agent_created_at: null,
        agent_updated_at: null,
        agent_version: null,
        agent_metadata: null,
      },
      steps: [
        {
          type: 'tool',
          name: 'refund',
          description: null,
          input_schema: null,
          output_schema: null,
          metadata: null,
        },
      ],
      evaluators: [{ name: ' x ', config_schema: {}, description: null }],
      force_replace: false,
      omit_controls: false,
      conflict_mode: 'strict',
    });
  });
  it('report every problem of a registration in order', () => {
    const body = {
      conflict_mode: 'merge',
      force_replace: null,
      evaluators: [
        { name: '' },
        { name: 'x'.repeat(256), config_schema: null, description: 'x'.repeat(1_001) },
      ],
      steps: [{ type: '', name: 5, input_schema: [] }, 5],
      agent: { agent_name: 'short', agent_version: 1, agent_metadata: 'x' },
    };
    expect(problems(agentSchemas.initAgent, body)).toEqual([
      'Agent agent.agent_name value_error',
      'Agent agent.agent_version string_type',
      'Agent agent.agent_metadata dict_type',
      'Step steps[0].type string_too_short',
      'Step steps[0].name string_type',
      'Step steps[0].input_schema dict_type',
      'Step steps[1] model_attributes_type',
      'Evaluator evaluators[0].name string_too_short',
      'Evaluator evaluators[1].name string_too_long',
      'Evaluator evaluators[1].config_schema dict_type',
      'Evaluator evaluators[1].description string_too_long',
      'Request force_replace bool_type',
      'Request conflict_mode enum',
    ]);
    expect(problems(agentSchemas.initAgent, {})).toEqual(['Agent agent missing']);
    expect(problems(agentSchemas.initAgent, { agent: null })).toEqual(['Agent agent model_attributes_type']);
  });
});
