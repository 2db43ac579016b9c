import { create, type MessageInitShape } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConditionExplanationSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { definitionValue } from '../../../packages/dashboard/src/control-parts/definition-json.js';
import {
  definitionText,
  readDefinitionText,
} from '../../../packages/dashboard/src/editor/definition-text.js';
import { draftMessage } from '../../../packages/dashboard/src/editor/draft-message.js';
import {
  conditionOf,
  type EditorAction,
  editorReducer,
  loadedState,
  newDraft,
} from '../../../packages/dashboard/src/editor/editor-state.js';
import { isExactNumber } from '../../../packages/dashboard/src/editor/exact-number.js';
import type { JsonObject } from '../../../packages/dashboard/src/editor/json.js';
import {
  fieldJsonPath,
  jsonPlace,
  nodeJsonPath,
} from '../../../packages/dashboard/src/editor/json-places.js';
import { nodeResults } from '../../../packages/dashboard/src/editor/node-results.js';
import {
  configProblems,
  nodePathOf,
  placedProblem,
  problemsOf,
} from '../../../packages/dashboard/src/editor/problem-place.js';
import { sampleStep } from '../../../packages/dashboard/src/editor/sample-step.js';
import { treeRows } from '../../../packages/dashboard/src/editor/tree-rows.js';

const check = (name: string, config: JsonObject = {}): JsonObject => ({
  selector: { path: 'input' },
  evaluator: { name, config },
});
const draft: JsonObject = {
  condition: { and: [check('a', { pattern: '(' }), { not: { or: [check('b'), check('c')] } }] },
  execution: 'server',
  action: { decision: 'deny' },
};

describe('a draft as a message', () => {
  it('keeps everything that the service knows', () => {
    const complete: JsonObject = {
      ...draft,
      description: 'text',
      enabled: false,
      scope: { step_types: ['tool'], step_names: ['n'], step_name_regex: '^n', stages: ['pre', 'post'] },
      action: {
        decision: 'steer',
        steering_context: { message: 'm', required_actions: ['a'] },
        metadata: { a: [1, { b: null }] },
      },
      tags: ['t'],
    };
    const { message, problems } = draftMessage(complete);
    expect(problems).toEqual([]);
    expect(definitionValue(message)).toEqual(complete);
  });

  it('warns of members that it cannot carry, and refuses values of a wrong type', () => {
    const { problems } = draftMessage({
      condition: { and: [{ ...check('a'), note: 1 }, 'text', { not: { evaluator: { name: 3 } } }] },
      enabled: 'yes',
      execution: 'client',
      scop: {},
      scope: { stages: ['pre', 'during'] },
      tags: 'pci',
      description: null,
    });
    expect(problems.map(({ field, severity }) => [field, severity])).toEqual([
      ['data.enabled', 'error'],
      ['data.execution', 'error'],
      ['data.tags', 'error'],
      ['data.condition.and[1]', 'error'],
      ['data.condition.and[0].note', 'warning'],
      ['data.condition.and[1].not.evaluator.name', 'error'],
      ['data.scope.stages[1]', 'error'],
      ['data.scop', 'warning'],
    ]);
  });
});

describe('a draft as a text', () => {
  it('is read back unchanged', () => {
    expect(readDefinitionText(definitionText(draft))).toEqual({ draft });
  });

  it.each([
    ['{"a": 1', 7],
    ['{"a": "12345678901234567890", "b": 12345678901234567890}', 35],
    ['[1]', 0],
    ['{"a": 1e999}', 6],
  ])('is refused with the position: %s', (text, at) => {
    expect(readDefinitionText(text)).toMatchObject({ problem: expect.any(String), at });
  });

  it('has only numbers that doubles keep', () => {
    const exact = [
      '0',
      '-0',
      '1.50',
      '0.1',
      '1e300',
      '9007199254740991',
      '-1E-7',
      '100e-2',
      '1.7976931348623157e308',
    ];
    const inexact = ['9007199254740993', '100000000000000000000', '0.1000000000000000055', '1e400', '1e-400'];
    expect(exact.filter((number) => !isExactNumber(number))).toEqual([]);
    expect(inexact.filter(isExactNumber)).toEqual([]);
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const size = Math.abs(number);
        fc.pre(size <= Number.MAX_SAFE_INTEGER || size >= 1e21);
        expect(isExactNumber(JSON.stringify(number))).toBe(true);
      }),
    );
  });

  it('has a place for every node and member', () => {
    const text = definitionText(draft);
    const slice = (path: readonly (string | number)[]) => {
      const place = jsonPlace(text, path);
      return place && text.slice(place.from, place.to);
    };
    const nodePath = nodeJsonPath(conditionOf(draft), [1, 0, 1]);
    expect(JSON.parse(slice(nodePath) ?? '')).toEqual(check('c'));
    expect(slice(fieldJsonPath('data.condition.and[0].evaluator.pattern'))).toBe('"("');
    expect(slice(fieldJsonPath('data.condition.and[0].evaluator.config.pattern'))).toBe('"("');
    expect(slice(fieldJsonPath('data.action.steering_context'))).toBe(slice(['action']));
    expect(jsonPlace('', ['condition'])).toBeNull();
  });
});

describe('problems of a draft', () => {
  const place = (field: string, message = '') => placedProblem(draft, { field, message, severity: 'error' });

  it.each([
    ['data.condition', [], ''],
    ['data.condition.and[0].evaluator.pattern', [0], 'evaluator.pattern'],
    ['data.condition.and[1].not.or[1].selector.path', [1, 0, 1], 'selector.path'],
    ['data.condition.and[7].evaluator', [], 'and[7].evaluator'],
    ['data.condition.or[0]', [], 'or[0]'],
    ['data.scope.stages[0]', null, 'scope.stages[0]'],
    ['name', null, 'name'],
    ['data', null, ''],
  ])('%s are shown where they are', (field, node, member) => {
    expect(place(field).place).toEqual({ node, member });
  });

  it('of the whole definition are shown at the member that they name', () => {
    expect(place('data', 'action.steering_context: required for steer').place.member).toBe(
      'action.steering_context',
    );
  });

  it('of a configuration have paths below it', () => {
    const fields = [
      'evaluator.pattern',
      'evaluator.config.values[0]',
      'evaluator.name',
      'evaluator.config',
      'selector',
    ];
    const problems = fields.map((field) => place(`data.condition.and[0].${field}`, field));
    expect(configProblems(problems).map(({ path }) => path)).toEqual(['pattern', 'values[0]', '']);
    expect(problemsOf(problems, 'evaluator.name', 'selector')).toHaveLength(2);
  });

  it('and links name nodes by the same paths', () => {
    expect(nodePathOf(draft, 'and[1].not.or[0]')).toEqual([1, 0, 0]);
    expect(nodePathOf(draft, '')).toEqual([]);
    expect(nodePathOf(draft, 'and[9]')).toBeNull();
  });
});

describe('the state of the editor', () => {
  const run = (...actions: EditorAction[]) => actions.reduce(editorReducer, loadedState('name', draft));

  it('undoes and redoes edits, typing into one field at once', () => {
    const typed = run(
      { type: 'set', members: ['description'], value: 'a' },
      { type: 'set', members: ['description'], value: 'ab' },
      { type: 'rename', name: 'other' },
    );
    const once = editorReducer(typed, { type: 'undo' });
    expect([once.name, once.draft.description]).toEqual(['name', 'ab']);
    const twice = editorReducer(once, { type: 'undo' });
    expect(twice.draft).toEqual(draft);
    const again = [1, 2].reduce((state) => editorReducer(state, { type: 'redo' }), twice);
    expect([again.name, again.draft.description]).toEqual(['other', 'ab']);
  });

  it('removes objects with their last member, and keeps others', () => {
    const set = run({ type: 'set', members: ['scope', 'stages'], value: ['pre'] });
    expect(set.draft.scope).toEqual({ stages: ['pre'] });
    const unset = editorReducer(set, { type: 'set', members: ['scope', 'stages'], value: undefined });
    expect(unset.draft).toEqual(draft);
  });

  it('selects the nearest node that is left', () => {
    const state = run(
      { type: 'select', selected: [1, 0, 1] },
      { type: 'replace', draft: { ...draft, condition: { and: [check('a'), { not: check('b') }] } } },
    );
    expect(state.selected).toEqual([1, 0]);
  });

  it('does not count the same definition as an edit', () => {
    expect(run({ type: 'replace', draft: structuredClone(draft) }).past).toEqual([]);
  });
});

describe('rows of the tree', () => {
  it('are in order, with their places', () => {
    const rows = treeRows(conditionOf(draft), new Set());
    expect(rows.map(({ kind, level, position, siblings }) => [kind, level, position, siblings])).toEqual([
      ['and', 1, 1, 1],
      ['check', 2, 1, 2],
      ['not', 2, 2, 2],
      ['or', 3, 1, 1],
      ['check', 4, 1, 2],
      ['check', 4, 2, 2],
    ]);
    const closed = treeRows(conditionOf(draft), new Set([rows[2]?.key ?? '']));
    expect(closed.map(({ kind }) => kind)).toEqual(['and', 'check', 'not']);
  });

  it('show misshapen nodes as such', () => {
    const root = { and: [null, 'text', { and: [], or: [] }, { not: null }, {}] };
    const kinds = treeRows(root, new Set()).map(({ kind }) => kind);
    expect(kinds).toEqual(['and', 'check', 'unknown', 'unknown', 'not', 'check']);
  });

  it('have the results of a tried step', () => {
    const leaf = (part: MessageInitShape<typeof ConditionExplanationSchema>) =>
      create(ConditionExplanationSchema, { type: 'leaf', evaluated: true, ...part });
    const root = conditionOf(draft);
    const results = nodeResults(
      root,
      create(ConditionExplanationSchema, {
        type: 'and',
        evaluated: true,
        children: [
          leaf({ matched: true, message: 'found' }),
          leaf({
            type: 'not',
            matched: false,
            children: [leaf({ type: 'or', children: [leaf({ error: 'broken' })] })],
          }),
        ],
      }),
    );
    expect(treeRows(root, new Set()).map(({ key }) => results.get(key)?.state)).toEqual([
      'error',
      'true',
      'false',
      'error',
      'error',
      undefined,
    ]);
  });
});

describe('a sample of a registered step', () => {
  it('has a value for each member of its schemas', () => {
    const text = sampleStep({
      type: 'tool',
      name: 'pay',
      inputSchema: {
        type: 'object',
        properties: {
          to: { type: 'string', examples: ['a@b.example'] },
          amount: { type: ['number', 'null'], minimum: 1 },
          items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
          mode: { enum: ['fast', 'slow'] },
          deep: { properties: { flag: { type: 'boolean', default: true } } },
        },
      },
    } as never);
    expect(JSON.parse(text)).toEqual({
      type: 'tool',
      name: 'pay',
      input: { to: 'a@b.example', amount: 1, items: [{ id: 0 }], mode: 'fast', deep: { flag: true } },
    });
  });

  it('has the required members only, as their formats and references say, and ends somewhere', () => {
    const text = sampleStep({
      type: 'tool',
      name: 'order',
      inputSchema: {
        type: 'object',
        required: ['id', 'mail', 'to', 'first'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          mail: { type: 'string', format: 'email' },
          to: { $ref: '#/$defs/person' },
          first: { anyOf: [{ type: 'integer', exclusiveMinimum: 2 }, { type: 'null' }] },
          note: { type: 'string' },
        },
        $defs: { person: { required: ['name'], properties: { name: { type: 'string', minLength: 6 } } } },
      },
    } as never);
    expect(JSON.parse(text).input).toEqual({
      id: '123e4567-e89b-42d3-a456-426614174000',
      mail: 'ann@example.com',
      to: { name: 'textxx' },
      first: 3,
    });
    const wide = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`m${index}`, { $ref: '#' }]));
    const endless = sampleStep({ type: 'tool', name: 'n', inputSchema: { properties: wide } } as never);
    expect(endless.length).toBeLessThan(200_000);
  });

  it('is one that the draft of a new control can be tried with', () => {
    expect(JSON.parse(sampleStep({ type: 'llm', name: 'n' } as never))).toEqual({
      type: 'llm',
      name: 'n',
      input: '',
    });
    expect(draftMessage(newDraft()).problems).toEqual([]);
  });
});
