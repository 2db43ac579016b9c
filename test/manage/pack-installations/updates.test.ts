import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createControlVersionStore } from '../../../src/manage/controls/control-version-store.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { generatedCases } from '../../support/generated-cases.js';
import { scoped } from '../../support/scoped.js';
import { adminCall, definition, installing, pack, packWorld } from './updates.support.js';

const ADMIN = adminCall();
const WRITE = { strict: false, ifVersion: undefined } as const;
const KEYS = ['a', 'b', 'c'] as const;

/** What a test changes of a definition, each as a member of its own. */
const EDITS: Readonly<Record<string, (now: ControlDefinition, value: string) => ControlDefinition>> = {
  condition: (now, value) => ({ ...now, condition: definition(value).condition }),
  description: (now, value) => ({ ...now, description: value }),
  enabled: (now) => ({ ...now, enabled: !now.enabled }),
  scope: (now, value) => ({ ...now, scope: { step_names: [value] } }),
  tags: (now, value) => ({ ...now, tags: [value] }),
  'action.decision': (now) => ({
    ...now,
    action: { ...now.action, decision: now.action.decision === 'deny' ? 'observe' : 'deny' },
  }),
  'action.metadata': (now, value) => ({ ...now, action: { ...now.action, metadata: { value } } }),
};
function edited(now: ControlDefinition, member: string, value: string): ControlDefinition {
  return EDITS[member]?.(now, value) ?? now;
}

/** The members of a definition, read for this test alone. */
const partsOf = ({ action, ...others }: ControlDefinition): Record<string, unknown> => ({
  condition: others.condition,
  description: others.description ?? null,
  enabled: others.enabled,
  scope: others.scope ?? null,
  tags: others.tags ?? null,
  'action.decision': action.decision,
  'action.metadata': action.metadata ?? null,
});

type Definitions = Readonly<Record<string, ControlDefinition>>;
/** What happens between two updates, and the next update. */
interface Round {
  readonly edits: readonly (readonly [key: string, member: string, value: string])[];
  readonly deleted: readonly string[];
  readonly published: readonly (readonly [key: string, member: string, value: string])[];
  readonly absent: readonly string[];
  readonly overwrite: readonly string[];
}

// Few of each, so that the same member of the same control is often changed on both sides.
const change = fc.tuple(
  fc.constantFrom('a', 'a', 'b'),
  fc.constantFrom(...Object.keys(EDITS)),
  fc.constantFrom('x', 'y', 'z'),
);
const rarely = (keys: readonly string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.subarray([...keys], { maxLength: 1 }));
const round: fc.Arbitrary<Round> = fc.record({
  edits: fc.array(change, { maxLength: 4 }),
  deleted: rarely(KEYS),
  published: fc.array(change, { minLength: 1, maxLength: 5 }),
  absent: rarely(KEYS),
  overwrite: rarely(KEYS),
});

describeOnEachDatabase('an installation of a pack', (freshDatabaseUrl) => {
  let database: Database;
  let world: ReturnType<typeof packWorld>;
  let worlds = 0;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    world = packWorld(database);
  });
  afterAll(() => database.close());

  const name = () => {
    worlds += 1;
    return `words-${worlds}`;
  };
  const install = async (version: string, definitions: Definitions, more: object = {}) => {
    world.offer(pack(version, definitions));
    const own = name();
    const { installation } = await world.install(
      ADMIN,
      installing({ policy_name: own, name_prefix: `${own}-`, ...more }),
    );
    return installation;
  };
  const idsOf = (installation: {
    readonly controls: readonly { readonly key: string; readonly control_id: number | null }[];
  }) => new Map(installation.controls.map((one) => [one.key, one.control_id]));
  const policyOf = async (policyId: number) => (await world.policies.get(ADMIN, policyId)).policy;
  const stored = async (id: number | null | undefined) => (id == null ? null : world.stored(id));

  it('has all controls in the policy, each with a version that says why', async () => {
    const installation = await install('1.0.0', { a: definition('x'), b: definition('y') });
    const ids = [...idsOf(installation).values()];
    expect(await policyOf(installation.policy_id)).toMatchObject({ control_ids: ids, version: 1 });
    const history = await createControlVersionStore(scoped(database.client)).list(ids[0] ?? 0, {
      cursor: null,
      limit: 10,
    });
    expect(history.rows).toMatchObject([{ eventType: 'created', note: 'Installed with pack words 1.0.0' }]);
    expect(await stored(ids[1])).toEqual(definition('y'));
  });

  it('is made as a whole or not at all', async () => {
    const own = name();
    await world.controls.create(ADMIN, `${own}-b`, definition('x'), false);
    const revision = await database.revision();
    world.offer(pack('1.0.0', { a: definition('x'), b: definition('y') }));
    const failing = world.install(ADMIN, installing({ policy_name: own, name_prefix: `${own}-` }));
    await expect(failing).rejects.toMatchObject({ code: 'CONTROL_NAME_CONFLICT' });
    expect(await database.revision()).toBe(revision);
    expect(
      (await world.policies.list(ADMIN, { cursor: null, limit: 1, nameContains: own })).policies,
    ).toEqual([]);
    expect((await world.controls.list(ADMIN, { ...ALL, nameContains: own }, null)).controls).toHaveLength(1);
  });

  it('is not changed by an update that fails after some of its work', async () => {
    const installation = await install('1.0.0', { a: definition('x'), b: definition('y') });
    const before = await Promise.all([...idsOf(installation).values()].map(stored));
    const broken = { condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: '(' } } } };
    world.offer(pack('2.0.0', { a: definition('z'), b: { ...definition('y'), ...broken } }));
    const revision = await database.revision();
    await expect(world.update(ADMIN, installation.installation_id, '2.0.0', [])).rejects.toThrow();
    expect(await database.revision()).toBe(revision);
    expect(await Promise.all([...idsOf(installation).values()].map(stored))).toEqual(before);
  });

  it('with some controls has no others, and keeps it so', async () => {
    const installation = await install('1.0.0', { a: definition('x'), b: definition('y') }, { keys: ['b'] });
    expect([...idsOf(installation)]).toEqual([
      ['a', null],
      ['b', expect.any(Number)],
    ]);
    world.offer(pack('1.1.0', { a: definition('z'), b: definition('y'), c: definition('c') }));
    const { installation: after, updated } = await world.update(
      ADMIN,
      installation.installation_id,
      '1.1.0',
      [],
    );
    expect(updated).toEqual(['c']);
    expect([...idsOf(after).values()].filter((id) => id === null)).toHaveLength(1);
    expect(after).toMatchObject({ version: '1.1.0', update_available: false });
  });

  it('never loses a change that was made here, and is the pack where nothing was changed', async () => {
    const law = fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 4 }), async (rounds) => {
      let offered: Definitions = Object.fromEntries(KEYS.map((one) => [one, definition(one)]));
      const installation = await install('1.0.0', offered);
      const id = installation.installation_id;
      let ids = idsOf(installation);
      let base = offered;
      for (const [index, { edits, deleted, published, absent, overwrite }] of rounds.entries()) {
        for (const [of, changed, to] of edits) {
          const controlId = ids.get(of);
          const now = await stored(controlId);
          if (controlId == null || now === null) continue;
          await world.controls.setData(ADMIN, controlId, edited(now, changed, to), WRITE);
        }
        for (const of of deleted) {
          const controlId = ids.get(of);
          if (controlId != null && (await stored(controlId)) !== null) {
            await world.controls.remove(ADMIN, controlId, true, undefined);
          }
        }
        const next: Record<string, ControlDefinition> = { ...offered };
        for (const [of, changed, to] of published) {
          // Packs only observe.
          if (changed !== 'action.decision') next[of] = edited(next[of] ?? definition(of), changed, to);
        }
        for (const of of absent) delete next[of];
        offered = next;
        const version = `${index + 2}.0.0`;
        world.offer(pack(version, offered));
        const known = overwrite.filter((of) => of in offered || ids.has(of));
        await checkUpdate(id, version, { ids, base, offered, overwrite: known });
        const filters = { pack: null, policyId: installation.policy_id };
        const [current] = (await world.service.listInstallations(ADMIN, filters)).installations;
        ids = idsOf(current as typeof installation);
        base = offered;
      }
    });
    await fc.assert(law, { numRuns: generatedCases(20) });
  });

  async function checkUpdate(
    id: number,
    version: string,
    {
      ids,
      base,
      offered,
      overwrite,
    }: {
      ids: Map<string, number | null>;
      base: Definitions;
      offered: Definitions;
      overwrite: readonly string[];
    },
  ): Promise<void> {
    const before = new Map<string, ControlDefinition | null>();
    for (const [one, controlId] of ids) before.set(one, await stored(controlId));
    const compared = await world.service.compare(ADMIN, id);
    const { installation } = await world.update(ADMIN, id, version, overwrite);
    const after = idsOf(installation);
    for (const one of new Set([...ids.keys(), ...Object.keys(offered)])) {
      const was = before.get(one) ?? null;
      const fromPack = offered[one];
      const now = await stored(after.get(one) ?? ids.get(one));
      const isOverwritten = overwrite.includes(one);
      const announced = compared.controls.find((control) => control.key === one);
      if (!isOverwritten && announced?.after_update != null) {
        expect(announced.after_update).toMatchObject({
          enabled: now?.enabled,
          action: { decision: now?.action.decision },
        });
      }
      if (fromPack === undefined) {
        const isChangedHere = was !== null && !sameParts(was, base[one]);
        expect(now).toEqual(isChangedHere && !isOverwritten ? was : null);
        expect(after.has(one)).toBe(false);
      } else if (!ids.has(one) || isOverwritten) {
        expect(now).toEqual(fromPack);
      } else if (was === null) {
        expect(now).toBeNull();
      } else {
        const [here, known, offeredParts] = [
          partsOf(was),
          partsOf(base[one] as ControlDefinition),
          partsOf(fromPack),
        ];
        const expected = Object.fromEntries(
          Object.keys(here).map((part) => [
            part,
            same(here[part], known[part]) ? offeredParts[part] : here[part],
          ]),
        );
        expect(partsOf(now as ControlDefinition)).toEqual(expected);
        if (sameParts(was, base[one])) expect(now).toEqual(fromPack);
      }
    }
  }

  it('is removed with the controls that nobody changed or uses, and once', async () => {
    const installation = await install('1.0.0', {
      a: definition('x'),
      b: definition('y'),
      c: definition('z'),
    });
    const [a = 0, b = 0, c = 0] = [...idsOf(installation).values()].map(Number);
    await world.controls.update(ADMIN, a, { enabled: false }, WRITE);
    const { policy_id: other } = await world.policies.create(ADMIN, name());
    await world.policies.addControl(ADMIN, other, b, undefined);
    const removed = await world.uninstall(ADMIN, installation.installation_id, false);
    expect(removed).toEqual({ removed: true, deleted_controls: [c], kept_controls: [a, b] });
    expect((await policyOf(installation.policy_id)).control_ids).toEqual([]);
    expect((await policyOf(other)).control_ids).toEqual([b]);
    const revision = await database.revision();
    const again = await world.uninstall(ADMIN, installation.installation_id, false);
    expect(again).toEqual({ removed: false, deleted_controls: [], kept_controls: [] });
    expect(await database.revision()).toBe(revision);
  });

  it('is removed with changed controls by force', async () => {
    const installation = await install('1.0.0', { a: definition('x') });
    const [a = 0] = [...idsOf(installation).values()].map(Number);
    await world.controls.update(ADMIN, a, { enabled: false }, WRITE);
    const removed = await world.uninstall(ADMIN, installation.installation_id, true);
    expect(removed).toMatchObject({ deleted_controls: [a], kept_controls: [] });
  });

  it('ends with its policy, whose controls stay', async () => {
    const installation = await install('1.0.0', { a: definition('x') });
    const [a] = [...idsOf(installation).values()];
    await world.policies.remove(ADMIN, installation.policy_id, false, undefined);
    expect(await stored(a)).toEqual(definition('x'));
    await expect(world.service.compare(ADMIN, installation.installation_id)).rejects.toMatchObject({
      code: 'PACK_INSTALLATION_NOT_FOUND',
    });
  });

  it('stays listed when the service does not have the pack any more, and can only be removed', async () => {
    const installation = await install('1.0.0', { a: definition('x') });
    world.offer();
    const { installations } = await world.service.listInstallations(ADMIN, {
      pack: 'words',
      policyId: installation.policy_id,
    });
    expect(installations).toMatchObject([{ current_version: null, update_available: false }]);
    const id = installation.installation_id;
    await expect(world.update(ADMIN, id, '1.0.0', [])).rejects.toMatchObject({ code: 'PACK_NOT_FOUND' });
    await expect(world.service.compare(ADMIN, id)).rejects.toMatchObject({ code: 'PACK_NOT_FOUND' });
    expect(await world.uninstall(ADMIN, id, false)).toMatchObject({ removed: true });
  });

  it('warns of an evaluator that the service does not have, which strict mode refuses', async () => {
    const missing = {
      ...definition('x'),
      condition: { selector: { path: 'input' }, evaluator: { name: 'not-there', config: {} } },
    };
    world.offer(pack('1.0.0', { a: missing }));
    const own = name();
    const input = installing({ policy_name: own, name_prefix: `${own}-` });
    const { warnings, installation } = await world.install(ADMIN, input);
    expect(warnings).toMatchObject([
      { code: 'unknown_evaluator', message: expect.stringContaining(`control "${own}-a"`) },
    ]);
    expect(installation.controls).toHaveLength(1);
    const { packs } = await world.service.list(ADMIN);
    expect(packs).toMatchObject([{ evaluators: ['not-there'], missing_evaluators: ['not-there'] }]);
    const strict = packWorld(database, true);
    strict.offer(pack('1.0.0', { a: missing }));
    await expect(strict.install(ADMIN, installing({ policy_name: name() }))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });
});

/** Filters of lists of controls. */
const ALL = {
  cursor: null,
  limit: 100,
  nameContains: null,
  enabled: null,
  templateBacked: null,
  cloned: null,
  stepType: null,
  stage: null,
  execution: null,
  tag: null,
  hasAgents: null,
  decisions: [],
  agentName: null,
  stepName: null,
  orderBy: 'newest',
  reverse: false,
} as const;

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function sameParts(one: ControlDefinition, other: ControlDefinition | undefined): boolean {
  return other !== undefined && same(partsOf(one), partsOf(other));
}
