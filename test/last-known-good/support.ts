import fc from 'fast-check';
import type { AgentState } from '../../src/controls/agent-control-store.js';
import {
  agentLine,
  controlLine,
  policyLine,
  type StateHeader,
  type StepsRecord,
} from '../../src/last-known-good/file-format.js';
import type { KeptState } from '../../src/last-known-good/kept-state.js';
import type { StateWriter } from '../../src/last-known-good/state-file.js';

/** A state as a test states it. */
export interface SampleState {
  readonly instanceId: string;
  readonly revision: number;
  readonly timeMs: number;
  /** Definitions by id from 1. */
  readonly controls: readonly { readonly name: string; readonly data: string }[];
  /** Positions of the controls of each policy; ids count from 1. */
  readonly policies: readonly (readonly number[])[];
  readonly agents: readonly {
    readonly name: string;
    readonly controls: readonly number[];
    readonly policies: readonly number[];
    readonly steps?: StepsRecord | undefined;
  }[];
}

export function sample(revision: number, more: Partial<SampleState> = {}): SampleState {
  return {
    instanceId: 'an-instance',
    revision,
    timeMs: 1_700_000_000_000 + revision,
    controls: [{ name: `control-${revision}`, data: `{"of":${revision}}` }],
    policies: [[0]],
    agents: [{ name: 'some-agent-1', controls: [], policies: [0] }],
    ...more,
  };
}

export function headerOf(state: SampleState): StateHeader {
  const { instanceId, revision, timeMs, controls, policies, agents } = state;
  return {
    instanceId,
    revision,
    timeMs,
    controls: controls.length,
    policies: policies.length,
    agents: agents.length,
    keys: 0,
  };
}

const ids = (positions: readonly number[]) => positions.map((position) => position + 1);

/** Writes a state line by line, as it would come from a database. */
export function writing(state: SampleState): (writer: StateWriter) => Promise<void> {
  return async (writer) => {
    await writer.header(headerOf(state));
    for (const [index, control] of state.controls.entries()) {
      await writer.lines(controlLine({ id: index + 1, ...control }));
    }
    for (const [index, positions] of state.policies.entries()) {
      await writer.lines(policyLine({ id: index + 1, controlIds: ids(positions) }));
    }
    for (const { name, controls, policies, steps } of state.agents) {
      await writer.lines(agentLine({ name, controlIds: ids(controls), policyIds: ids(policies), steps }));
    }
  };
}

/** The ids of the controls that an agent of the state has, descending. */
export function controlIdsOf(state: SampleState, agentName: string): number[] | null {
  const agent = state.agents.find(({ name }) => name === agentName);
  if (agent === undefined) return null;
  const positions = [...agent.controls, ...agent.policies.flatMap((policy) => state.policies[policy] ?? [])];
  return [...new Set(ids(positions))].sort((left, right) => right - left);
}

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
const positions = (count: number) =>
  count === 0 ? fc.constant<number[]>([]) : fc.uniqueArray(fc.nat({ max: count - 1 }));

/** Any state, also one without anything. */
export const anyState: fc.Arbitrary<SampleState> = fc
  .record({
    controls: fc.array(fc.record({ name: anyText, data: anyText }), { maxLength: 8 }),
    policyCount: fc.nat({ max: 4 }),
    names: fc.uniqueArray(anyText, { maxLength: 8 }),
  })
  .chain(({ controls, policyCount, names }) =>
    fc.record({
      instanceId: fc.uuid(),
      revision: fc.nat(),
      timeMs: fc.nat({ max: 4_000_000_000_000 }),
      controls: fc.constant(controls),
      policies: fc.array(positions(controls.length), { minLength: policyCount, maxLength: policyCount }),
      agents: fc.tuple(
        ...names.map((name) =>
          fc.record({
            name: fc.constant(name),
            controls: positions(controls.length),
            policies: positions(policyCount),
            steps: fc.option(
              fc.record({
                mode: fc.constantFrom(null, 'off', 'warn', 'enforce'),
                schemas: fc.option(anyText),
              }),
              { nil: undefined },
            ),
          }),
        ),
      ),
    }),
  );

/** The controls of an agent in a state. */
export function stateOf(state: KeptState, agentName: string): AgentState {
  const links = state.linksOf(agentName)?.links ?? null;
  return {
    revision: state.header.revision,
    controls: links === null ? null : state.controlsOf(links),
    policyIds: links?.policyIds ?? [],
  };
}
