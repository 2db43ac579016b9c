import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { Snapshot } from '../../../src/decide/decisions/snapshot.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import { change, fakeStore, key, programOf } from './support.js';

/** Controls with this id and above read metadata. */
const READING = 100;

function registration(metadata: JsonObject | null): string {
  return JSON.stringify({
    agent: { agent_name: 'agent', agent_metadata: metadata },
    steps: [],
    evaluators: [],
  });
}

function scene() {
  const store = fakeStore();
  const register = (metadata: JsonObject | null) =>
    store.steps.set(key('agent'), { mode: null, registration: registration(metadata) });
  const snapshot = new Snapshot({
    reader: store.reader,
    builder: {
      build: async (controls) => {
        const ids = controls.map(({ id }) => id);
        return { ...programOf(ids), readsAgent: ids.some((id) => id >= READING) ? 'metadata' : 'nothing' };
      },
      replace: async () => null,
    },
    stepSchemas: createStepSchemaLibrary('off'),
    maxAgents: 10,
    maxBytes: 10_000_000,
    now: () => 0,
  });
  async function facts() {
    // A change of another process applies once it is loaded.
    await store.settle();
    const asked = snapshot.programOf(key('agent'));
    await store.settle();
    return (await asked).agentNamed('agent');
  }
  const follow = (changed: Parameters<typeof change>[1]) =>
    snapshot.follow([change(store.revision, changed)]);
  return { store, snapshot, register, facts, follow };
}

describe('the metadata of an agent', () => {
  it('are read where a control reads them, and follow its registration', async () => {
    const { store, register, facts, follow } = scene();
    register({ team: 'red' });
    store.store('agent', READING);
    follow({ agents: ['agent'] });
    expect(await facts()).toEqual({ name: 'agent', metadata: { team: 'red' } });
    register({ team: 'blue' });
    store.revision += 1;
    follow({ agents: ['agent'] });
    expect(await facts()).toEqual({ name: 'agent', metadata: { team: 'blue' } });
  });

  it('are not kept where none does', async () => {
    const { store, register, facts, follow } = scene();
    register({ team: 'red' });
    store.store('agent', 1);
    follow({ agents: ['agent'] });
    expect(await facts()).toBeNull();
  });

  it('are read once a control that reads them joins a policy of the agent', async () => {
    const { store, register, facts, follow } = scene();
    register({ team: 'red' });
    store.define(5, 1);
    store.assign('agent', 5);
    follow({ agents: ['agent'], policies: [5] });
    expect(await facts()).toBeNull();
    store.define(5, 1, READING);
    follow({ policies: [5] });
    expect(await facts()).toEqual({ name: 'agent', metadata: { team: 'red' } });
    store.define(5, 1);
    follow({ policies: [5] });
    expect(await facts()).toBeNull();
  });

  it('are empty without any, and unknown in a file that does not have them', async () => {
    const { store, register, facts, follow } = scene();
    register(null);
    store.store('agent', READING);
    follow({ agents: ['agent'] });
    expect(await facts()).toEqual({ name: 'agent', metadata: {} });
    store.steps.set(key('agent'), { mode: null, schemas: null });
    store.revision += 1;
    follow({ agents: ['agent'] });
    expect(await facts()).toEqual({ name: 'agent', metadata: null });
    store.steps.set(key('agent'), { mode: null, schemas: null, metadata: '{"team":"kept"}' });
    store.revision += 1;
    follow({ agents: ['agent'] });
    expect(await facts()).toEqual({ name: 'agent', metadata: { team: 'kept' } });
  });
});
