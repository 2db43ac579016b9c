import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { newControl, stores, write } from './support.js';

describeOnEachDatabase('The store of links between agents and controls', (freshDatabaseUrl) => {
  let database: Database;
  /** In an order of insertion that no result should have; the last three sort differently by locale and by bytes. */
  const agentNames = ['zebra-agent', 'ab-agent-01', 'a-b-agent-01', 'a_b-agent-01'];
  const controlNames = ['first', 'second', 'third'];
  let agentIds: number[];
  let controlIds: number[];

  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    [agentIds, controlIds] = await write(database, async ({ agents, controls }) => {
      const madeAgents: number[] = [];
      const madeControls: number[] = [];
      for (const name of agentNames) {
        madeAgents.push((await agents.insert({ name, data: '{}', createdAtMs: 1 })).id);
      }
      for (const name of controlNames) madeControls.push((await controls.insert(newControl(name))).id);
      return [madeAgents, madeControls];
    });
  });
  afterAll(() => database.close());

  const agent = (index: number) => agentIds[index] ?? 0;
  const control = (index: number) => controlIds[index] ?? 0;

  it('adds a link once and removes it once', async () => {
    const add = () => write(database, ({ links }) => links.add(agent(0), control(0)));
    const remove = () => write(database, ({ links }) => links.remove(agent(0), control(0)));
    expect([await add(), await add(), await remove(), await remove()]).toEqual([true, false, true, false]);
  });

  it('makes no link to what does not exist', async () => {
    const adding = write(database, ({ links }) => links.add(agent(0), 999_999));
    expect(await adding).toBe(false);
  });

  it('lists which agent has which control', async () => {
    await write(database, async ({ links }) => {
      for (const index of [0, 1, 2, 3]) await links.add(agent(index), control(1));
      await links.add(agent(0), control(0));
    });
    const { links } = stores(database.client);
    expect((await links.controlsOf(agent(0))).map(({ name }) => name)).toEqual(['second', 'first']);
    expect(await links.controlsOf(999_999)).toEqual([]);
    expect(await links.agentsOf(control(1))).toEqual([
      'a-b-agent-01',
      'a_b-agent-01',
      'ab-agent-01',
      'zebra-agent',
    ]);
    expect(await links.agentsOf(control(2))).toEqual([]);
    expect(await links.usage(controlIds)).toEqual(
      new Map([
        [control(0), { agentName: 'zebra-agent', count: 1 }],
        [control(1), { agentName: 'a-b-agent-01', count: 4 }],
      ]),
    );
    expect(await links.usage([])).toEqual(new Map());
  });

  it('loses the links of a control that is removed, and only those', async () => {
    await write(database, ({ controls }) => controls.remove(control(0), 7));
    const { links } = stores(database.client);
    expect((await links.controlsOf(agent(0))).map(({ name }) => name)).toEqual(['second']);
    expect(await links.agentsOf(control(0))).toEqual([]);
    expect(await links.agentsOf(control(1))).toHaveLength(4);
    expect(await stores(database.client).controls.findByName('second')).not.toBeNull();
  });
});
