import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { ControlRow } from '../../../src/manage/controls/control-store.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { readStoredDefinition } from '../../../src/manage/controls/definition-presentation.js';
import { packChangeOf, planPack, prefixOf } from '../../../src/manage/pack-installations/pack-plan.js';
import { isLater } from '../../../src/manage/packs/versions.js';
import { definition, pack, registry } from './updates.support.js';

/** What an update does with the control `one`, whose definitions are these. */
const compare = (base: object | null, current: object | string | null, inPack: object | null) => {
  const text = (value: object | string) =>
    typeof value === 'string' ? value : stringifyJson(value as never);
  const control = current === null ? null : ({ id: 1, name: 'one', data: text(current) } as ControlRow);
  const planning = {
    pack: 'words',
    rows: base === null ? [] : [{ key: 'one', base: text(base), control }],
    offered: inPack === null ? [] : pack('2.0.0', { one: inPack as ControlDefinition }).controls,
    overwrite: new Set<string>(),
  };
  const [compared] = planPack(planning, registry);
  if (compared === undefined) throw new Error('nothing is planned');
  const { merge, planned } = compared;
  const after = planned?.after ?? null;
  return {
    change: packChangeOf(compared),
    changedHere: merge?.changedHere,
    changedInPack: merge?.changedByOwner,
    updatedMembers: merge?.updated,
    after: after === null || !after.endsWith('}') ? after : (JSON.parse(after) as object),
  };
};
const BASE = definition('one', { tags: ['a'] });

describe('a control compared with what was installed and with the pack', () => {
  it('is untouched by an update without changes in the pack', () => {
    expect(compare(BASE, BASE, BASE)).toMatchObject({
      change: 'none',
      changedHere: [],
      changedInPack: [],
      after: BASE,
    });
    const changed = { ...BASE, enabled: false };
    expect(compare(BASE, changed, BASE)).toMatchObject({
      change: 'none',
      changedHere: ['enabled'],
      after: changed,
    });
  });

  it('becomes what the pack has when nothing was changed here', () => {
    const offered = definition('two', { tags: ['b'] });
    expect(compare(BASE, BASE, offered)).toEqual({
      change: 'update',
      changedHere: [],
      changedInPack: ['condition', 'tags'],
      updatedMembers: ['condition', 'tags'],
      after: offered,
    });
  });

  it('gets members of the pack beside its own changes, the members of the action one by one', () => {
    const action = { decision: 'deny', metadata: { owner: 'us' } } as const;
    const offered = {
      ...BASE,
      condition: definition('two').condition,
      action: { decision: 'observe', steering_context: { message: 'Ask.' } },
    } as const;
    expect(compare(BASE, { ...BASE, action }, offered)).toEqual({
      change: 'update',
      changedHere: ['action.decision', 'action.metadata'],
      changedInPack: ['action.steering_context', 'condition'],
      updatedMembers: ['action.steering_context', 'condition'],
      after: {
        ...offered,
        action: { decision: 'deny', steering_context: { message: 'Ask.' }, metadata: { owner: 'us' } },
      },
    });
  });

  it('keeps who approves of what a control denies, whatever the pack changes', () => {
    const action = { decision: 'deny', approval: { approvers: ['role:admin'] } } as const;
    const here = { ...BASE, scope: { stages: ['pre'] }, action };
    expect(compare(BASE, here, definition('two'))).toMatchObject({
      change: 'update',
      changedHere: ['action.approval', 'action.decision', 'scope'],
      after: { condition: definition('two').condition, action },
    });
  });

  it('keeps members that were changed on both sides, which is a conflict unless the changes are equal', () => {
    const here = { ...BASE, tags: ['ours'], enabled: false };
    const offered = { ...BASE, tags: ['theirs'], description: 'New.' };
    expect(compare(BASE, here, offered)).toMatchObject({
      change: 'conflict',
      updatedMembers: ['description'],
      after: { tags: ['ours'], enabled: false, description: 'New.' },
    });
    expect(compare(BASE, here, { ...BASE, tags: ['ours'] })).toMatchObject({ change: 'none', after: here });
  });

  it('is kept as a whole where a definition made of both cannot be stored', () => {
    const here = { ...BASE, action: { decision: 'steer' } };
    const offered = { ...BASE, condition: { not: BASE.condition }, description: 'New.' };
    expect(readStoredDefinition(JSON.stringify(here), registry).ok).toBe(true);
    expect(compare(BASE, here, offered)).toMatchObject({
      change: 'conflict',
      updatedMembers: [],
      after: here,
    });
  });

  it('is kept as a whole where it is made from a template, or cannot be read', () => {
    const templated = { ...BASE, template: { parameters: {}, definition_template: {} }, template_values: {} };
    const offered = definition('two');
    expect(compare(BASE, templated, offered)).toMatchObject({
      change: 'conflict',
      updatedMembers: [],
      after: templated,
    });
    const unreadable = compare(BASE, '{', offered);
    expect(unreadable).toMatchObject({
      change: 'conflict',
      changedHere: expect.arrayContaining(['data']),
      after: '{',
    });
  });

  it('is added, removed or absent', () => {
    expect(compare(null, null, BASE)).toMatchObject({ change: 'add', after: BASE });
    expect(compare(BASE, BASE, null)).toMatchObject({ change: 'remove', after: null });
    expect(compare(BASE, null, BASE)).toMatchObject({ change: 'absent', after: null });
    const here = { ...BASE, enabled: false };
    expect(compare(BASE, here, null)).toMatchObject({
      change: 'conflict',
      changedHere: ['enabled'],
      after: null,
    });
  });

  it('does not differ by absent, null and empty members, nor by the order of members', () => {
    const { tags: _, ...others } = BASE;
    const base = { ...others, tags: [], scope: {} };
    const reordered = {
      tags: null,
      action: BASE.action,
      execution: 'server',
      enabled: true,
      condition: BASE.condition,
    };
    expect(compare(base, reordered, base)).toMatchObject({ change: 'none', changedHere: [] });
  });
});

describe('versions', () => {
  // In the order of https://semver.org/#spec-item-11, with further numbers.
  const ORDERED = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.9.0',
    '1.10.0',
    '2.0.0',
    '99999999999999999999.0.0',
  ];
  it('are ordered by their precedence', () => {
    for (const [index, one] of ORDERED.entries()) {
      for (const [place, other] of ORDERED.entries())
        expect([one, other, isLater(one, other)]).toEqual([one, other, index > place]);
    }
    expect(isLater('1.0.0+build.2', '1.0.0+build.1')).toBe(false);
  });

  it('of which one is later than the other are never both', () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.constantFrom('', '-a', '-1', '-a.1', '-a.b'))
      .map(([a, b, c, end]) => `${a}.${b}.${c}${end}`);
    fc.assert(
      fc.property(version, version, (one, other) => {
        expect(isLater(one, other) && isLater(other, one)).toBe(false);
        expect(isLater(one, other) || isLater(other, one)).toBe(one !== other);
      }),
    );
  });
});

it('names of new controls begin as most others of the installation do', () => {
  const row = (key: string, name: string) => ({ key, control: { name } });
  expect(prefixOf('words', [])).toBe('words-');
  expect(
    prefixOf('words', [row('a', 'ours-a'), row('b', 'ours-b'), row('c', 'other-c'), row('d', 'renamed')]),
  ).toBe('ours-');
});
