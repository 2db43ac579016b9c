import { describe, expect, it } from 'vitest';
import type { LoadedProgram } from '../../../src/decide/decisions/loaded-program.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import type { StepSchemaMode } from '../../../src/kernel/core/step-schemas.js';
import { fakeStore, key, snapshotOf } from './support.js';

const STEP = { type: 'tool', name: 'send', input: {}, output: null, context: null };
const SCHEMAS = JSON.stringify([['tool', 'send', { required: ['text'] }, null]]);
const registration = (steps: object[]) => JSON.stringify({ agent: {}, steps, evaluators: [] });
const REGISTERED = registration([{ type: 'tool', name: 'send', input_schema: { required: ['text'] } }]);

/** The setting of the service, that of the agent, and the one in effect. */
const MODES: [StepSchemaMode, StepSchemaMode | null, StepSchemaMode][] = [
  ['warn', null, 'warn'],
  ['off', null, 'off'],
  ['off', 'enforce', 'enforce'],
  ['enforce', 'off', 'off'],
  ['enforce', 'warn', 'warn'],
];

describe('the schemas of registered steps', () => {
  it.each(MODES)('with the setting %s and %s of the agent are in the mode %s', async (service, own, mode) => {
    const library = createStepSchemaLibrary(service);
    const found = await library.comparisonOf({ mode: own, registration: REGISTERED });
    expect([library.modeOf(own), found?.mode ?? 'off']).toEqual([mode, mode]);
  });

  it('are the same object for agents with the same steps, however they are read', async () => {
    const library = createStepSchemaLibrary('warn');
    const read = await library.comparisonOf({ mode: null, registration: REGISTERED });
    const kept = await library.comparisonOf({ mode: 'enforce', schemas: SCHEMAS });
    expect(kept?.schemas).toBe(read?.schemas);
    expect(kept?.schemas.compare(STEP, 'pre', () => {})).toMatchObject({ path: 'input.text' });
  });

  it('are none where none are registered', async () => {
    const library = createStepSchemaLibrary('enforce');
    for (const text of [
      registration([]),
      registration([{ type: 'a', name: 'b', input_schema: null }]),
      '{}',
    ]) {
      expect(await library.comparisonOf({ mode: null, registration: text })).toBeNull();
    }
    expect(await library.comparisonOf({ mode: null, schemas: null })).toBeNull();
  });

  it('are not known of an old last known good file, and of a damaged registration: then nothing satisfies them', async () => {
    const damaged = { mode: null, registration: '{"steps": [{"input_schema": {' };
    for (const steps of ['unknown', damaged] as const) {
      expect(await createStepSchemaLibrary('off').comparisonOf(steps)).toBeNull();
      for (const mode of ['warn', 'enforce'] as const) {
        const found = await createStepSchemaLibrary(mode).comparisonOf(steps);
        expect(found?.mode).toBe(mode);
        expect(found?.schemas.compare(STEP, 'pre', () => {})).toMatchObject({ not_compared: true });
      }
    }
  });

  it('belong to one agent, though others have the same program', async () => {
    const store = fakeStore();
    store.store('compared-agent', 1);
    store.store('other-agent-01', 1);
    store.steps.set('compared-agent', { mode: 'enforce', schemas: SCHEMAS });
    const { snapshot } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    const loading = Promise.all(
      ['compared-agent', 'other-agent-01'].map((name) => snapshot.programOf(key(name))),
    );
    await store.settle();
    const [compared, other] = (await loading) as [LoadedProgram, LoadedProgram];
    expect([compared.comparison?.mode, other.comparison]).toEqual(['enforce', null]);
    expect(compared.program).toBe(other.program);
    // The object is made once, not for each step.
    expect(snapshot.programOf(key('compared-agent'))).toBe(snapshot.programOf(key('compared-agent')));

    // A change elsewhere applies with its links, and decides by the former schemas until then.
    store.steps.set('compared-agent', { mode: 'off', schemas: SCHEMAS });
    store.revision += 1;
    snapshot.follow([
      {
        revision: store.revision,
        agents: [key('compared-agent')],
        controls: [],
        policies: [],
        targets: [],
        access: false,
      },
    ]);
    const before = snapshot.programOf(key('compared-agent')) as LoadedProgram;
    expect([before.comparison?.mode, before.revision(snapshot.progress)]).toEqual(['enforce', 2]);
    await store.settle();
    const after = snapshot.programOf(key('compared-agent')) as LoadedProgram;
    expect([after.comparison, after.revision(snapshot.progress)]).toEqual([null, 3]);
  });
});
