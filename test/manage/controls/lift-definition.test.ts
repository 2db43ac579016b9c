import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { readDefinition } from '../../../src/kernel/core/definition-view.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { presentAction } from '../../../src/manage/controls/definition-presentation.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { definitionWarnings } from '../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { isHiddenBy } from '../../../src/manage/controls/definition-warnings/hiding-deny.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createDefinitionSchema(registry);
const request = z.object({ data: schema });

const leaf = (path: string, name = 'regex', config: JsonObject = { pattern: 'x' }): JsonObject => ({
  selector: { path },
  evaluator: { name, config },
});
const approvers = ['role:approver'];
const matches: JsonObject = { path: 'input.text', replace: 'matches', with: '[redacted]' };

function definition(action: JsonObject, more: JsonObject = {}): JsonObject {
  const scope = action.approval === undefined ? {} : { scope: { stages: ['pre'] } };
  return {
    condition: leaf('input'),
    execution: 'server',
    ...scope,
    action: { decision: 'deny', ...action },
    ...more,
  };
}

const asking = (approval: JsonObject, more: JsonObject = {}): JsonObject =>
  definition({ approval: { approvers, ...approval } }, more);
const changing = (modify: JsonValue, more: JsonObject = {}): JsonObject => definition({ modify }, more);

function problems(data: JsonValue): string[] {
  return inputItems(request, { data }).items.map(({ field, code }) => `${field} ${code}`);
}

function stored(data: JsonValue): ControlDefinition {
  const { value, items } = inputItems(schema, data);
  expect(items).toEqual([]);
  if (value === undefined) throw new Error('no definition was read');
  return value;
}

const warnings = (data: JsonValue): string[] =>
  [...definitionWarnings(stored(data), registry)].map(({ code, field }) => `${field} ${code}`);

describe('action.approval', () => {
  it('is stored and printed as given, and absent when it is not set', () => {
    const all = {
      approvers: ['role:approver', 'name:ann lee'],
      quorum: 2,
      expires_seconds: 604_800,
      bind: ['input.amount', '*'],
      reuse: { seconds: 86_400 },
      question: 'Pay {input.amount}?',
      separate: false,
    };
    for (const approval of [all, { approvers }, { approvers, bind: 'step', reuse: 'session' }]) {
      const { action } = stored(asking(approval));
      expect(action.approval).toEqual(approval);
      expect(presentAction(action).approval).toEqual(approval);
    }
    const nulls = {
      quorum: null,
      expires_seconds: null,
      bind: null,
      reuse: null,
      question: null,
      separate: null,
    };
    expect(stored(asking(nulls)).action.approval).toEqual({ approvers });
    const plain = stored(definition({ approval: null, modify: null })).action;
    expect([plain, Object.keys(presentAction(plain))]).toEqual([
      { decision: 'deny' },
      ['decision', 'steering_context', 'metadata'],
    ]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no object', definition({ approval: 'yes' }), ['approval model_type']],
    ['no approvers', definition({ approval: {} }), ['approval.approvers missing']],
    ['an empty list of approvers', asking({ approvers: [] }), ['approval.approvers too_short']],
    ['too many approvers', asking({ approvers: Array(21).fill('name:a') }), ['approval.approvers too_long']],
    [
      'an approver of no kind',
      asking({ approvers: ['role:a', 'ann'] }),
      ['approval.approvers.1 value_error'],
    ],
    ['an approver without a name', asking({ approvers: ['name: '] }), ['approval.approvers.0 value_error']],
    ['no quorum', asking({ quorum: 0 }), ['approval.quorum greater_than_equal']],
    ['a quorum that is too large', asking({ quorum: 11 }), ['approval.quorum less_than_equal']],
    [
      'a quorum above the named',
      asking({ approvers: ['name:a'], quorum: 2 }),
      ['approval.quorum value_error'],
    ],
    ['a short expiry', asking({ expires_seconds: 9 }), ['approval.expires_seconds greater_than_equal']],
    ['a long expiry', asking({ expires_seconds: 604_801 }), ['approval.expires_seconds less_than_equal']],
    ['another word of bind', asking({ bind: 'all' }), ['approval.bind value_error']],
    ['no paths', asking({ bind: [] }), ['approval.bind too_short']],
    ['a path that is none', asking({ bind: ['input.a', 'amount'] }), ['approval.bind.1 value_error']],
    ['another word of reuse', asking({ reuse: 'always' }), ['approval.reuse value_error']],
    ['reuse without seconds', asking({ reuse: {} }), ['approval.reuse.seconds missing']],
    [
      'reuse for too long',
      asking({ reuse: { seconds: 86_401 } }),
      ['approval.reuse.seconds less_than_equal'],
    ],
    ['an empty question', asking({ question: '' }), ['approval.question string_too_short']],
    ['a long question', asking({ question: 'x'.repeat(501) }), ['approval.question string_too_long']],
    ['separate as a list', asking({ separate: [] }), ['approval.separate bool_type']],
    ['every stage', { ...asking({}), scope: {} }, ['approval value_error']],
    ['the stage post', asking({}, { scope: { stages: ['pre', 'post'] } }), ['approval value_error']],
    ['clients', asking({}, { execution: 'sdk' }), ['approval value_error']],
    [
      'another decision',
      definition({ decision: 'observe', approval: { approvers } }),
      ['approval value_error'],
    ],
    [
      'changes beside it',
      definition({ approval: { approvers }, modify: [matches] }),
      ['approval value_error'],
    ],
  ])('is refused with %s', (_what, data, expected) => {
    expect(problems(data)).toEqual(
      expected.map((one) => `data.action.${one}`.replace(/\.(\d+)(?=[ .])/g, '[$1]')),
    );
    // Stored nevertheless, the control denies every step of its scope.
    expect(readDefinition(data)).toMatchObject({ intact: false });
  });

  it('warns about bound paths that lead nowhere', () => {
    expect(warnings(asking({ bind: ['name.x'] }))).toEqual(['data.action.approval.bind[0] never_matches']);
  });
});

describe('action.modify', () => {
  it('is stored and printed as given', () => {
    const modify = [
      matches,
      { path: 'input', replace: 'matches', with: '' },
      { path: 'context.a b', replace: 'value', with: 'x'.repeat(1_000) },
      { path: 'context.headers.authorization', remove: true },
    ];
    const { action } = stored(changing(modify));
    expect(action.modify).toEqual(modify);
    expect(presentAction(action).modify).toEqual(modify);
    const unset = { ...matches, remove: false };
    expect(stored(changing([unset])).action.modify).toEqual([matches]);
    const output = [{ path: 'output', replace: 'value', with: '' }];
    const post = changing(output, { scope: { stages: ['post'] } });
    expect(stored(post).action.modify).toEqual(output);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no list', changing({}), ['list_type']],
    ['no changes', changing([]), ['too_short']],
    ['too many changes', changing(Array(21).fill(matches)), ['too_long']],
    ['a change that is no object', changing([5]), ['[0] model_type']],
    ['no path', changing([{ replace: 'value', with: '' }]), ['[0].path missing']],
    ['the whole step', changing([{ ...matches, path: '*' }]), ['[0].path value_error']],
    ['the name', changing([{ ...matches, path: 'name' }]), ['[0].path value_error']],
    [
      'the output before the step',
      changing([matches, { ...matches, path: 'output.a' }]),
      ['[1].path value_error'],
    ],
    ['all of the input removed', changing([{ path: 'input', remove: true }]), ['[0].path value_error']],
    ['all of the context', changing([{ ...matches, path: 'context' }]), ['[0].path value_error']],
    ['another word', changing([{ ...matches, replace: 'all' }]), ['[0].replace value_error']],
    ['nothing to do', changing([{ path: 'input.a' }]), ['[0].replace missing', '[0].with missing']],
    ['no replacement', changing([{ path: 'input.a', replace: 'value' }]), ['[0].with missing']],
    ['remove and replace', changing([{ ...matches, remove: true }]), ['[0].replace value_error']],
    ['a long replacement', changing([{ ...matches, with: 'x'.repeat(1_001) }]), ['[0].with string_too_long']],
    ['half a character', changing([{ ...matches, with: '\ud83d' }]), ['[0].with value_error']],
    ['clients', changing([matches], { execution: 'sdk' }), ['value_error']],
    ['another decision', definition({ decision: 'observe', modify: [matches] }), ['value_error']],
    [
      'no check that can say where it matches',
      changing([matches], { condition: leaf('input', 'json', { required_fields: ['a'] }) }),
      ['[0].replace value_error'],
    ],
    [
      'such a check below not',
      changing([matches], { condition: { not: leaf('input') } }),
      ['[0].replace value_error'],
    ],
  ])('is refused with %s', (_what, data, expected) => {
    expect(problems(data)).toEqual(
      expected.map((one) => `data.action.modify${one.startsWith('[') ? '' : ' '}${one}`),
    );
  });

  it('warns about a path that no check looks at', () => {
    const elsewhere = { ...matches, path: 'context.note' };
    expect(warnings(changing([elsewhere, matches]))).toEqual(['data.action.modify[0].path no_effect']);
    const both = { and: [leaf('*'), { not: leaf('input') }] };
    expect(warnings(changing([elsewhere, matches], { condition: both }))).toEqual([]);
  });

  it('does not hide other controls, as a deny that is final does', () => {
    const other = stored(definition({}));
    expect(isHiddenBy(other, other, registry)).toBe(true);
    for (const lifted of [asking({}), changing([matches])])
      expect(isHiddenBy({ ...other, scope: { stages: ['pre'] } }, stored(lifted), registry)).toBe(false);
  });
});
