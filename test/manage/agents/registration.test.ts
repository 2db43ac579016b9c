import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import type { AgentRegistration } from '../../../src/manage/agents/agent-registration.js';
import { agentSchemas, readStoredRegistration } from '../../../src/manage/agents/agent-schemas.js';
import { noChanges } from '../../../src/manage/agents/overwrite-changes.js';
import { checkRegistration, mergeOverwrite, mergeStrict } from '../../../src/manage/agents/registration.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { errorOf } from '../../support/service-error.js';

const registry = serviceRegistry;
const NAME = 'billing-bot-01';

interface Sent {
  readonly agent?: JsonObject;
  readonly steps?: JsonValue[];
  readonly evaluators?: JsonValue[];
}

function registration({ agent = {}, steps = [], evaluators = [] }: Sent = {}): AgentRegistration {
  const input = parseInput(agentSchemas.initAgent, {
    agent: { agent_name: NAME, ...agent },
    steps,
    evaluators,
  });
  return { agent: input.agent, steps: input.steps, evaluators: input.evaluators };
}

const tool = (name: string, more: JsonObject = {}): JsonObject => ({ type: 'tool', name, ...more });
const schemaOf = (type: string): JsonObject => ({ properties: { a: { type } } });
const names = (items: readonly { name: string }[]): string[] => items.map(({ name }) => name);

describe('a registration by itself', () => {
  it('may not bring an evaluator of the service, and the first one is named', () => {
    const incoming = registration({
      steps: [tool('a'), tool('a')],
      evaluators: [{ name: 'tone' }, { name: 'list' }, { name: 'regex' }],
    });
    const { code, options } = errorOf(() => checkRegistration(incoming, registry));
    expect(code).toBe('EVALUATOR_NAME_CONFLICT');
    expect(options).toMatchObject({ name: 'list', kind: 'Evaluator' });
    expect(options.items).toMatchObject([{ resource: 'Evaluator', field: 'name', code: 'name_conflict' }]);
  });
  it('compares evaluator names as written', () => {
    expect(() =>
      checkRegistration(registration({ evaluators: [{ name: 'Regex' }] }), registry),
    ).not.toThrow();
  });
  it('may not name a step twice', () => {
    const steps = [tool('a'), { type: 'llm', name: 'a' }, tool('b'), tool('b'), tool('a')];
    const { code, options } = errorOf(() => checkRegistration(registration({ steps }), registry));
    expect(code).toBe('VALIDATION_ERROR');
    expect(options.httpStatus).toBe(400);
    expect(options.hint).toBeUndefined();
    expect(options.items).toMatchObject([
      { resource: 'Step', field: 'name', code: 'duplicate_step_name', value: 'b' },
    ]);
  });
  it('distinguishes steps by type and name, however they are spelt', () => {
    const steps = [
      { type: 'a', name: 'bc' },
      { type: 'ab', name: 'c' },
      { type: '1:a', name: 'b' },
      { type: '1', name: ':ab' },
    ];
    expect(() => checkRegistration(registration({ steps }), registry)).not.toThrow();
  });
});

describe('strict registration', () => {
  it('adds new steps at the end and keeps those that are missing', () => {
    const stored = registration({ steps: [tool('a'), tool('b')] });
    const {
      registration: merged,
      changed,
      changes,
    } = mergeStrict(stored, registration({ steps: [tool('c'), tool('b')] }));
    expect(names(merged.steps)).toEqual(['a', 'b', 'c']);
    expect(changed).toBe(true);
    expect(changes).toEqual(noChanges());
  });
  it('is no change when it contains what is stored', () => {
    const stored = registration({
      steps: [tool('a', { input_schema: { x: 1, y: 2 } })],
      evaluators: [{ name: 'tone' }],
    });
    const again = registration({
      steps: [tool('a', { input_schema: { y: 2, x: 1 } })],
      evaluators: [{ name: 'tone' }],
    });
    expect(mergeStrict(stored, again).changed).toBe(false);
    expect(mergeStrict(stored, registration()).changed).toBe(false);
  });
  it('takes over the description of a step only along with another change', () => {
    const stored = registration({ steps: [tool('a', { description: 'old' })] });
    const described = mergeStrict(stored, registration({ steps: [tool('a', { description: 'new' })] }));
    expect(described.changed).toBe(false);
    expect(described.registration.steps[0]?.description).toBe('new');
  });
  it('replaces the whole agent object', () => {
    const stored = registration({ agent: { agent_version: '1', agent_description: 'x' } });
    const merge = mergeStrict(stored, registration({ agent: { agent_version: '2' } }));
    expect(merge.changed).toBe(true);
    expect(merge.registration.agent).toMatchObject({ agent_version: '2', agent_description: null });
  });
  it.each<[string, JsonObject, JsonObject]>([
    ['input schema', { input_schema: { a: 1 } }, { input_schema: { a: 2 } }],
    ['output schema', { output_schema: { a: 1 } }, { output_schema: { a: 1, b: 1 } }],
    ['schema that is gone', { input_schema: {} }, { input_schema: null }],
    ['schema that is new', {}, { output_schema: {} }],
  ])('refuses a known step with another %s', (_name, before, after) => {
    const stored = registration({ steps: [tool('a'), tool('pay', before)] });
    const incoming = registration({ steps: [tool('a'), tool('pay', after)] });
    const { code, options } = errorOf(() => mergeStrict(stored, incoming));
    expect(code).toBe('SCHEMA_INCOMPATIBLE');
    expect(options).toMatchObject({ name: 'pay', kind: 'Step' });
    expect(options.items).toMatchObject([{ resource: 'Step', field: 'schema', code: 'schema_mismatch' }]);
  });
  it('adds, replaces and keeps evaluators', () => {
    const stored = registration({
      evaluators: [{ name: 'a' }, { name: 'b', config_schema: schemaOf('string') }],
    });
    const next = { name: 'b', config_schema: { ...schemaOf('string'), title: 'x' }, description: 'new' };
    const { registration: merged, changed } = mergeStrict(
      stored,
      registration({ evaluators: [{ name: 'c' }, next] }),
    );
    expect(names(merged.evaluators)).toEqual(['a', 'b', 'c']);
    expect(merged.evaluators[1]).toEqual(next);
    expect(changed).toBe(true);
  });
  it('refuses an evaluator whose schema became incompatible, one item for each change', () => {
    const stored = registration({ evaluators: [{ name: 'b', config_schema: schemaOf('string') }] });
    const incoming = registration({
      evaluators: [{ name: 'b', config_schema: { ...schemaOf('integer'), required: ['a'] } }],
    });
    const { code, options } = errorOf(() => mergeStrict(stored, incoming));
    expect(code).toBe('SCHEMA_INCOMPATIBLE');
    expect(options).toMatchObject({ name: 'b', kind: 'Evaluator' });
    const item = { resource: 'Evaluator', field: 'config_schema', code: 'schema_incompatible' };
    expect(options.items).toMatchObject([item, item]);
  });
  it('takes the last of two evaluators with one name', () => {
    const evaluators = [{ name: 'x', description: '1' }, { name: 'y' }, { name: 'x', description: '2' }];
    const merged = mergeStrict(registration(), registration({ evaluators })).registration.evaluators;
    expect(merged.map(({ name, description }) => [name, description])).toEqual([
      ['x', '2'],
      ['y', null],
    ]);
  });
});

describe('overwriting registration', () => {
  const stored = registration({
    agent: { agent_version: '1' },
    steps: [tool('keep'), tool('gone'), { type: 'llm', name: 'gone' }, tool('edit')],
    evaluators: [{ name: 'tone-check' }, { name: 'alpha' }, { name: 'same' }],
  });
  it('replaces everything and reports what changed, sorted', () => {
    const incoming = registration({
      steps: [tool('new'), tool('edit', { metadata: {} }), { type: 'llm', name: 'new' }, tool('keep')],
      evaluators: [{ name: 'same', description: 'x' }, { name: 'zeta' }, { name: 'beta' }],
    });
    const controls = [
      { id: 12, name: 'polite', evaluatorNames: [`${NAME}:tone-check`, 'regex'] },
      { id: 9, name: 'also', evaluatorNames: [`${NAME}:tone-check`] },
      { id: 3, name: 'other', evaluatorNames: ['other-agent-1:alpha', 'alpha', `${NAME}:same`] },
    ];
    expect(mergeOverwrite(stored, incoming, controls)).toEqual({
      registration: incoming,
      changed: true,
      changes: {
        metadata_changed: true,
        steps_added: [
          { type: 'llm', name: 'new' },
          { type: 'tool', name: 'new' },
        ],
        steps_updated: [{ type: 'tool', name: 'edit' }],
        steps_removed: [
          { type: 'llm', name: 'gone' },
          { type: 'tool', name: 'gone' },
        ],
        evaluators_added: ['beta', 'zeta'],
        evaluators_updated: ['same'],
        evaluators_removed: ['alpha', 'tone-check'],
        evaluator_removals: [
          { name: 'alpha', referenced_by_active_controls: false, control_ids: [], control_names: [] },
          {
            name: 'tone-check',
            referenced_by_active_controls: true,
            control_ids: [9, 12],
            control_names: ['also', 'polite'],
          },
        ],
      },
    });
  });
  it('splits a reference at its first colon', () => {
    const agent = { agent_name: 'team:bot-01' };
    const before = registration({ agent, evaluators: [{ name: 'x' }] });
    const controls = [{ id: 1, name: 'c', evaluatorNames: ['team:bot-01:x'] }];
    const { changes } = mergeOverwrite(before, registration({ agent }), controls);
    expect(changes.evaluator_removals).toMatchObject([{ name: 'x', referenced_by_active_controls: false }]);
  });
  it('requires no compatibility', () => {
    const incoming = registration({
      agent: { agent_version: '1' },
      steps: [
        tool('keep', { input_schema: { a: 1 } }),
        tool('gone'),
        { type: 'llm', name: 'gone' },
        tool('edit'),
      ],
      evaluators: [{ name: 'tone-check' }, { name: 'alpha' }, { name: 'same' }],
    });
    expect(mergeOverwrite(stored, incoming, []).changes).toEqual({
      ...noChanges(),
      steps_updated: [{ type: 'tool', name: 'keep' }],
    });
  });
  it('stores nothing for another order alone', () => {
    const reordered = {
      ...stored,
      steps: [...stored.steps].reverse(),
      evaluators: [...stored.evaluators].reverse(),
    };
    expect(mergeOverwrite(stored, reordered, [])).toEqual({
      registration: stored,
      changed: false,
      changes: noChanges(),
    });
  });
  it('keeps evaluators that were sent twice', () => {
    const twice = registration({ evaluators: [{ name: 'x' }, { name: 'x', description: '2' }] });
    expect(mergeOverwrite(stored, twice, []).registration.evaluators).toHaveLength(2);
  });
});

describe('a stored registration', () => {
  it('is read back as it was', () => {
    const stored = registration({
      agent: { agent_metadata: { a: 10n ** 20n } },
      steps: [tool('a')],
      evaluators: [{ name: 'x' }],
    });
    expect(readStoredRegistration(stringifyJson(stored))).toStrictEqual(stored);
  });
  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"agent":{"agent_name":"short"}}',
    '{"agent":{"agent_name":"billing-bot-01"},"steps":5}',
  ])('is undefined when it is damaged: %s', (text) => {
    expect(readStoredRegistration(text)).toBeUndefined();
  });
});

describe('laws', () => {
  const anyStep = fc.record(
    {
      type: fc.constantFrom('tool', 'llm'),
      name: fc.constantFrom('a', 'b', 'c'),
      metadata: fc.constant({}),
      input_schema: fc.constantFrom(null, {}),
    },
    { requiredKeys: ['type', 'name'] },
  );
  const anyEvaluator = fc.record({
    name: fc.constantFrom('x', 'y', 'z'),
    config_schema: fc.constantFrom({}, schemaOf('string')),
  });
  const anyRegistration = fc
    .record({
      steps: fc.uniqueArray(anyStep, { selector: ({ type, name }) => type + name }),
      evaluators: fc.uniqueArray(anyEvaluator, { selector: ({ name }) => name }),
    })
    .map((sent) => registration(sent as Sent));
  it('registering a second time changes nothing', () => {
    fc.assert(
      fc.property(anyRegistration, anyRegistration, (stored, incoming) => {
        const overwritten = mergeOverwrite(stored, incoming, []).registration;
        expect(mergeOverwrite(overwritten, incoming, []).changed).toBe(false);
        let merged: AgentRegistration;
        try {
          merged = mergeStrict(stored, incoming).registration;
        } catch (error) {
          expect(error).toMatchObject({ code: 'SCHEMA_INCOMPATIBLE' });
          return;
        }
        expect(mergeStrict(merged, incoming).changed).toBe(false);
        expect(names(merged.steps)).toEqual(
          expect.arrayContaining([...names(stored.steps), ...names(incoming.steps)]),
        );
      }),
    );
  });
});
