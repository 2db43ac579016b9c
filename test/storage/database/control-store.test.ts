import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ControlFacet,
  type ControlFilters,
  createControlStore,
} from '../../../src/manage/controls/control-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { fewestQueries } from '../../support/fewest-queries.js';
import { scoped } from '../../support/scoped.js';
import { newControl, write } from './support.js';

const NO_FILTERS: ControlFilters = {
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
};
const ODD_TAGS = [
  '',
  'nul\0',
  '\ud800',
  '\udc00',
  '�',
  'é',
  '😀',
  'TAG',
  'tag',
  "'",
  '%',
  'x'.repeat(100_000),
];
const facets = (kind: ControlFacet['kind'], values: readonly string[]) =>
  values.map((value) => ({ kind, value }));

describeOnEachDatabase('The control store', (freshDatabaseUrl) => {
  let database: Database;
  const statements: string[] = [];
  const store = () => createControlStore(scoped(database.client));
  const list = async (filters: Partial<ControlFilters> = {}) => {
    const { rows, total, hasMore } = await store().list({ ...NO_FILTERS, ...filters });
    return { names: rows.map(({ name }) => name), total, hasMore };
  };
  const names = async (filters: Partial<ControlFilters>) => (await list(filters)).names;

  beforeAll(async () => {
    const url = await freshDatabaseUrl();
    database = await openDatabase({ url, onQuery: (sql) => statements.push(sql) });
    await write(database, async ({ controls }) => {
      await controls.insert(newControl('open'));
      await controls.insert(newControl('Sdk-Control', { execution: 'sdk', enabled: false }));
      const toolOnly = { restrictsStepTypes: true, facets: facets('step_type', ['tool', 'custom']) };
      await controls.insert(newControl('tool-only', toolOnly));
      const preTool = {
        restrictsStepTypes: true,
        restrictsStages: true,
        facets: [...facets('step_type', ['tool']), ...facets('stage', ['pre'])],
      };
      await controls.insert(newControl('pre-tool', preTool));
      const template = { templateBacked: true, execution: null, enabled: false, templateRendered: false };
      await controls.insert(newControl('draft', { ...template, facets: facets('tag', ['tag']) }));
      await controls.insert(newControl('rendered', { templateBacked: true, templateRendered: true }));
      await controls.insert(newControl('odd_tags', { facets: facets('tag', [...ODD_TAGS, 'tag']) }));
    });
  });
  afterAll(() => database.close());

  it('finds what was inserted, by id and by name', async () => {
    const { facets: _, ...columns } = newControl('found', {
      data: '{"é":"\\u0000\\ud800"}',
      execution: null,
    });
    const row = await write(database, ({ controls }) => controls.insert({ ...columns, facets: [] }));
    expect(row).toEqual({ id: row.id, ...columns });
    expect(await store().find(row.id)).toEqual(row);
    expect(await store().findByName('found')).toEqual(row);
    expect(await store().findByName('Found')).toBeNull();
    expect(await write(database, ({ controls }) => controls.remove(row.id, 7))).toBe(true);
    expect(await write(database, ({ controls }) => controls.remove(row.id, 7))).toBe(false);
    expect(await store().find(row.id)).toBeNull();
  });

  it('never gives an id twice', async () => {
    const first = await write(database, ({ controls }) => controls.insert(newControl('short-lived')));
    await write(database, ({ controls }) => controls.remove(first.id, 7));
    const second = await write(database, ({ controls }) => controls.insert(newControl('short-lived')));
    await write(database, ({ controls }) => controls.remove(second.id, 7));
    expect(second.id).toBeGreaterThan(first.id);
  });

  it('finds no control of an impossible id or name', async () => {
    for (const id of [0, -1, 1.5, 2 ** 31, -(2 ** 40), Number.NaN]) expect(await store().find(id)).toBeNull();
    for (const name of ['', '\0', '\ud800']) expect(await store().findByName(name)).toBeNull();
  });

  it('changes only what an update names', async () => {
    const tagged = newControl('changing', { facets: facets('tag', ['before']) });
    const row = await write(database, ({ controls }) => controls.insert(tagged));
    const update = (change: Parameters<ReturnType<typeof store>['update']>[1]) =>
      write(database, ({ controls }) => controls.update(row.id, change));
    await update({ updatedAtMs: 5, name: 'changed' });
    expect(await store().find(row.id)).toEqual({ ...row, name: 'changed', updatedAtMs: 5 });
    expect(await names({ tag: 'before' })).toEqual(['changed']);
    await update({
      updatedAtMs: 6,
      enabled: false,
      execution: null,
      data: '[]',
      facets: facets('tag', ['after']),
    });
    const expected = { ...row, name: 'changed', enabled: false, execution: null, data: '[]', updatedAtMs: 6 };
    expect(await store().find(row.id)).toEqual(expected);
    expect(await names({ tag: 'before' })).toEqual([]);
    expect(await names({ tag: 'after' })).toEqual(['changed']);
    await write(database, ({ controls }) => controls.remove(row.id, 7));
    expect(await database.client.controlFacet.count({ where: { controlId: row.id } })).toBe(0);
  });

  it('lists by id, newest first, with a cursor that may be any integer', async () => {
    const all = await list();
    expect(all).toMatchObject({ total: 7, hasMore: false });
    expect(all.names).toEqual([
      'odd_tags',
      'rendered',
      'draft',
      'pre-tool',
      'tool-only',
      'Sdk-Control',
      'open',
    ]);
    const { id } = (await store().findByName('draft')) ?? { id: 0 };
    expect(await list({ cursor: id, limit: 2 })).toEqual({
      names: ['pre-tool', 'tool-only'],
      total: 7,
      hasMore: true,
    });
    for (const cursor of [2 ** 31 - 1, 2 ** 31, 2 ** 60]) expect(await names({ cursor })).toEqual(all.names);
    for (const cursor of [1, 0, -1, -(2 ** 31), -(2 ** 60)]) {
      expect(await list({ cursor })).toEqual({ names: [], total: 7, hasMore: false });
    }
  });

  const without = (...missing: string[]) =>
    ['odd_tags', 'rendered', 'draft', 'pre-tool', 'tool-only', 'Sdk-Control', 'open'].filter(
      (name) => !missing.includes(name),
    );

  it.each<[Partial<ControlFilters>, string[]]>([
    [{ enabled: true }, without('draft', 'Sdk-Control')],
    [{ enabled: false }, ['draft', 'Sdk-Control']],
    [{ templateBacked: true }, ['rendered', 'draft']],
    [{ templateBacked: false }, without('rendered', 'draft')],
    [{ stepType: 'tool' }, without('draft')],
    [{ stepType: 'custom' }, without('draft', 'pre-tool')],
    [{ stepType: '' }, without('draft', 'pre-tool', 'tool-only')],
    [{ stepType: 'pre' }, without('draft', 'pre-tool', 'tool-only')],
    [{ stage: 'pre' }, without('draft')],
    [{ stage: 'post' }, without('draft', 'pre-tool')],
    [{ execution: 'sdk' }, ['Sdk-Control']],
    [{ execution: 'server' }, without('Sdk-Control', 'draft')],
    [{ execution: '' }, []],
    [{ execution: '\0' }, []],
    [{ tag: 'tag' }, ['odd_tags']],
    [{ tag: 'Tag' }, []],
    [{ tag: 'pre' }, []],
    [{ nameContains: 'sdk' }, ['Sdk-Control']],
    [{ nameContains: 'CONTROL' }, ['Sdk-Control']],
    [{ nameContains: '_' }, ['odd_tags']],
    [{ nameContains: '%' }, []],
    [{ nameContains: '\0' }, []],
    [{ nameContains: '\ud800' }, []],
    [{ nameContains: '' }, without()],
    [{ stepType: 'tool', stage: 'post', enabled: true }, ['odd_tags', 'rendered', 'tool-only', 'open']],
    [{ stepType: 'custom', nameContains: 'o', execution: 'server', enabled: true, tag: 'tag' }, ['odd_tags']],
  ])('filters by %j', async (filters, expected) => {
    expect(await list(filters)).toEqual({ names: expected, total: expected.length, hasMore: false });
  });

  it('finds any tag, whatever its characters, and no other', async () => {
    for (const tag of ODD_TAGS) expect(await names({ tag })).toEqual(['odd_tags']);
    expect(await names({ tag: '\udc01' })).toEqual([]);
  });

  it('survives any text and any number in its filters', async () => {
    const text = fc.option(fc.string({ unit: 'binary' }), { nil: null });
    const filters = fc.record({
      cursor: fc.option(fc.maxSafeInteger(), { nil: null }),
      nameContains: text,
      stepType: text,
      stage: text,
      execution: text,
      tag: text,
    });
    await fc.assert(
      fc.asyncProperty(filters, async (given) => {
        const { names: found, total } = await list(given);
        expect(found.length).toBeLessThanOrEqual(total);
      }),
      { numRuns: 50 },
    );
  });

  it('lists with a fixed number of statements, however many controls there are', async () => {
    const made = await fewestQueries({ queries: statements }, () => list({ stepType: 'tool', tag: 'tag' }));
    expect(made.length).toBeLessThanOrEqual(4);
  });
});
