import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import {
  createRegistrationNotes,
  MAX_COMPARED_AGENTS,
} from '../../../src/manage/agents/registration-notes.js';
import { stepNotes } from '../../../src/manage/agents/step-notes.js';
import { addSteps, emptyCatalogue, type StepCatalogue } from '../../../src/manage/agents/steps-catalogue.js';
import type { ControlDefinition, Scope } from '../../../src/manage/controls/definition/definition.js';
import { type Database, type DbClient, openDatabase } from '../../../src/storage/database/database.js';

import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';

const definition = (scope: Scope, path = 'input'): ControlDefinition => ({
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
  enabled: true,
  execution: 'server',
  scope,
  action: { decision: 'deny' },
});

/** A catalogue of one agent. */
function catalogueOf(steps: readonly JsonObject[], isComplete = true): StepCatalogue {
  const catalogue = emptyCatalogue('any agent');
  addSteps(catalogue, JSON.stringify({ steps }));
  return { ...catalogue, isComplete };
}
/** Without those about required members, which have tests of their own. */
const told = (catalogue: StepCatalogue, scope: Scope, path?: string) =>
  [...stepNotes(definition(scope, path), catalogue)]
    .filter(({ code }) => code !== 'path_not_guaranteed')
    .map(({ field, code }) => `${field} ${code}`);

const closed = (...names: string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
  additionalProperties: false,
});
const STEPS = [
  { type: 'tool', name: 'send_mail', input_schema: closed('text', 'to') },
  { type: 'tool', name: 'search', input_schema: closed('query') },
  { type: 'chain', name: 'plan' },
];

describe('a catalogue of registered steps', () => {
  it('has what can be read of a registration', () => {
    const catalogue = emptyCatalogue('any agent');
    for (const stored of [
      'no JSON',
      '{}',
      '[]',
      '{"steps": 1}',
      '{"steps": [1, {"type": "tool"}, {"type": "tool", "name": "ok", "input_schema": 1}]}',
    ]) {
      addSteps(catalogue, stored);
    }
    expect(catalogue.steps).toEqual([{ type: 'tool', name: 'ok', input_schema: null, output_schema: null }]);
  });
});

describe('the notes about steps', () => {
  it('compare nothing where nothing is registered, but types with those that need no registration', () => {
    const none = emptyCatalogue('any agent');
    expect(told(none, { step_names: ['x'], step_name_regex: 'x' }, 'input.x')).toEqual([]);
    expect(told(none, { step_types: ['tool', 'LLM', 'workflow'] })).toEqual([
      'data.scope.step_types[1] misspelled_step_type',
      'data.scope.step_types[2] unregistered_step_type',
    ]);
  });

  it('tell paths that a check with memory reads and no schema allows', () => {
    const config = {
      limit: 1,
      amount: 'input.amount',
      window: { life: true },
      key: ['session', 'input.too', 'input.to', 'context.any'],
    };
    const condition = { selector: { path: '*' }, evaluator: { name: 'budget', config } };
    const control = { ...definition({ step_names: ['send_mail'] }), condition };
    const notes = [...stepNotes(control, catalogueOf(STEPS))].map(({ code, field, message }) => [
      code,
      field,
      message,
    ]);
    const message = (name: string) =>
      `no registered step that the scope selects has an input_schema that allows ${name}`;
    expect(notes).toEqual([
      [
        'unreachable_selector',
        'data.condition.evaluator.config.key[1]',
        `${message('"too"')}; did you mean to?`,
      ],
      ['unreachable_selector', 'data.condition.evaluator.config.amount', message('"amount"')],
    ]);
  });

  it('take a registered type for what it is, however much it looks like another', () => {
    const steps = [{ type: 'Tool', name: 'x' }];
    expect(told(catalogueOf(steps), { step_types: ['Tool'] })).toEqual([]);
  });

  it('report only misspellings when there are more agents than were looked at', () => {
    const partial = catalogueOf(STEPS, false);
    expect(told(partial, { step_names: ['send_mial', 'something'] })).toEqual([
      'data.scope.step_names[0] unregistered_step_name',
    ]);
    expect(told(partial, { step_types: ['chian', 'workflow'] })).toEqual([
      'data.scope.step_types[0] unregistered_step_type',
    ]);
    expect(told(partial, { step_name_regex: 'delete' })).toEqual([]);
    expect(told(partial, { step_names: ['search'] }, 'input.text')).toEqual([]);
  });

  it.each<[string, Scope, string, boolean]>([
    ['no selected step', { step_names: ['search'] }, 'input.text', true],
    ['no step of several', { step_types: ['tool'] }, 'input.body', true],
    ['one step of several', { step_types: ['tool'] }, 'input.text', false],
    ['a step without a schema', {}, 'input.text', false],
    ['steps found by a pattern', { step_name_regex: '^sea' }, 'input.text', true],
    ['an output without a schema', { step_names: ['search'] }, 'output.text', false],
    ['all of the input', { step_names: ['search'] }, 'input', false],
    ['the context', { step_names: ['search'] }, 'context.text', false],
  ])('know whether a member is in the schemas of %s', (_, scope, path, isUnreachable) => {
    expect(told(catalogueOf(STEPS), scope, path)).toEqual(
      isUnreachable ? ['data.condition.selector.path unreachable_selector'] : [],
    );
  });

  it.each<[string, JsonObject]>([
    ['is silent about others', { properties: { query: {} } }],
    ['allows others', { properties: { query: {} }, additionalProperties: true }],
    ['has patterns', { additionalProperties: false, patternProperties: { '^t': {} } }],
    ['is composed', { additionalProperties: false, allOf: [{ properties: { text: {} } }] }],
    ['refers elsewhere', { additionalProperties: false, $ref: '#/$defs/X' }],
  ])('report nothing for a schema that %s', (_, input_schema) => {
    const steps = [{ type: 'tool', name: 'search', input_schema }];
    expect(told(catalogueOf(steps), { step_names: ['search'] }, 'input.text')).toEqual([]);
  });

  it('cost what there is to compare, not the product', () => {
    const steps = Array.from({ length: 20_000 }, (_, index) => ({
      type: 'tool',
      name: `step_number_${index}`,
    }));
    const names = Array.from({ length: 20_000 }, (_, index) => `stop_number_${index}x`);
    expect(told(catalogueOf(steps), { step_names: names })).toHaveLength(names.length);
  });
});

describeOnEachDatabase('the notes about registrations', (freshDatabaseUrl) => {
  const notes = createRegistrationNotes();
  const insert = (database: Database, agents: readonly { name: string; data: string }[]) =>
    database.mutate(async (tx) => {
      const createdAtMs = BigInt(await tx.agent.count());
      await tx.agent.createMany({ data: agents.map((agent) => ({ ...agent, createdAtMs })) });
      return { value: undefined, changed: true };
    });
  const agent = (name: string, steps: readonly JsonObject[]) => ({ name, data: JSON.stringify({ steps }) });

  it('read a bounded number of agents and no huge registration', async () => {
    const database = await openDatabase({ url: await freshDatabaseUrl() });
    const { client } = database;
    await insert(database, [agent('the-oldest-one', [{ type: 'tool', name: 'oldest' }])]);
    const codes = async (name: string) =>
      (await notes(scoped(client), definition({ step_names: [name] }))).notes.map(({ code }) => code);
    expect(await codes('oldest')).toEqual([]);
    expect(await codes('unknown')).toEqual(['unregistered_step_name']);
    // What is not read may be anything.
    await insert(database, [agent('a-huge-agent', [{ type: 'tool', name: 'x'.repeat(200_000) }])]);
    expect(await codes('unknown')).toEqual([]);
    expect(await codes('oldets')).toEqual(['unregistered_step_name']);
    const many = Array.from({ length: MAX_COMPARED_AGENTS }, (_, index) =>
      agent(`agent-number-${index}`, [{ type: 'tool', name: `name-${index}` }]),
    );
    await insert(database, many);
    expect(await codes('name-0')).toEqual([]);
    expect(await codes('oldets')).toEqual([]);
    await database.close();
  });

  it('report registrations that cannot be read, and read none that nothing is compared with', async () => {
    const broken = { $queryRaw: () => Promise.reject(new Error('gone')) } as unknown as DbClient;
    expect(await notes(scoped(broken), definition({ step_names: ['x'] }))).toMatchObject({
      notes: [{ code: 'registrations_not_read', field: 'data' }],
      refused: [],
    });
    for (const path of ['*', 'input', 'context.role', 'name']) {
      expect(await notes(scoped(broken), definition({ step_types: ['tool', 'llm'] }, path))).toEqual({
        notes: [],
        refused: [],
      });
    }
  });
});

describe('a path that a registered schema does not guarantee', () => {
  const TO = { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] };
  const INPUT: JsonObject = {
    type: 'object',
    properties: { text: { type: 'string' }, to: TO, cc: TO },
    required: ['text', 'to'],
  };
  const steps = [
    { type: 'tool', name: 'free' },
    { type: 'tool', name: 'send_mail', input_schema: INPUT, output_schema: { type: 'object' } },
  ];
  const notes = (path: string, scope: Scope, more: Partial<ControlDefinition> = {}, ofAgent = false) => {
    const catalogue = emptyCatalogue(ofAgent ? 'agent "a"' : 'any agent', ofAgent);
    addSteps(catalogue, JSON.stringify({ steps }));
    return [...stepNotes({ ...definition(scope, path), ...more }, catalogue)];
  };
  const NAMED: Scope = { step_names: ['send_mail'] };

  it.each([
    ['input.text', null],
    ['input.to.mail', null],
    ['input.cc.mail', 'input.cc'],
    ['input.to.name', 'input.to.name'],
    ['input.text.part', 'input.text.part'],
    ['input.other', 'input.other'],
    ['output.id', 'output.id'],
    ['input', null],
    ['context.user', null],
  ])('%s is told with the member %s, once for its leaf', (path, member) => {
    const found = notes(path, NAMED);
    expect(found.map(({ code, field }) => [code, field])).toEqual(
      member === null ? [] : [['path_not_guaranteed', 'data.condition.selector']],
    );
    if (member !== null) {
      expect(found[0]?.message).toContain(`step "send_mail" does not guarantee "${member}"`);
      expect(found[0]?.message).toContain('"required": true');
    }
  });

  it('is not told where it is required already, or decides nothing, or nothing is registered for the step', () => {
    const path = 'input.cc';
    expect(notes(path, NAMED)).toHaveLength(1);
    const required: ControlDefinition['condition'] = {
      selector: { path, required: true },
      evaluator: { name: 'regex', config: { pattern: 'x' } },
    };
    expect(notes(path, NAMED, { condition: required })).toEqual([]);
    expect(notes(path, NAMED, { action: { decision: 'observe' } })).toEqual([]);
    expect(notes(path, { step_names: ['free'] })).toEqual([]);
  });

  it('is told of all steps of one agent that know the member, and of those of all agents only if they are named', () => {
    expect(notes('input.cc', {})).toEqual([]);
    expect(notes('input.cc', {}, {}, true)).toMatchObject([{ code: 'path_not_guaranteed' }]);
    expect(notes('input.other', {}, {}, true)).toEqual([]);
  });

  it('is not told of schemas that may demand it elsewhere', () => {
    const [first, second] = steps;
    const open = { ...second, input_schema: { $ref: '#/$defs/a', $defs: { a: INPUT } } };
    const catalogue = emptyCatalogue('any agent');
    addSteps(catalogue, JSON.stringify({ steps: [first, open] } as JsonObject));
    expect([...stepNotes(definition(NAMED, 'input.cc'), catalogue)]).toEqual([]);
  });
});
