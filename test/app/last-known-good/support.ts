import fc from 'fast-check';
import {
  agentLine,
  controlLine,
  policyLine,
  type StateHeader,
  type StepsRecord,
} from '../../../src/app/last-known-good/file-format.js';
import type { KeptState } from '../../../src/app/last-known-good/kept-state.js';
import type { StateWriter } from '../../../src/app/last-known-good/state-file.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import type { AgentState } from '../../../src/decide/agent-state/agent-control-store.js';

/** A state as a test states it. */
export interface SampleState {
  readonly instanceId: string;
  readonly revision: number;
  readonly timeMs: number;
  /** Definitions by id from 1. */
  readonly controls: readonly {
    readonly name: string;
    readonly data: string;
    /** Ids of the targets that it is bound to. */
    readonly targets?: readonly string[];
  }[];
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
    halts: 0,
    bindings: controls.reduce((sum, { targets = [] }) => sum + targets.length, 0),
  };
}

/** The key of an agent of the namespace `default`. */
export const key = (agentName: string) => DEFAULT_NAMESPACE.agentKey(agentName);

/** The key of a target of the namespace `default`. */
export const target = (id: string) => DEFAULT_NAMESPACE.targetKey({ type: 'project', id });

const ids = (positions: readonly number[]) => positions.map((position) => position + 1);

/** Writes a state line by line, as it would come from a database. */
export function writing(state: SampleState): (writer: StateWriter) => Promise<void> {
  return async (writer) => {
    await writer.header(headerOf(state));
    for (const [index, { name, data, targets = [] }] of state.controls.entries()) {
      await writer.lines(controlLine({ id: index + 1, name, data, targets: targets.map(target) }));
    }
    for (const [index, positions] of state.policies.entries()) {
      await writer.lines(policyLine({ id: index + 1, controlIds: ids(positions) }));
    }
    for (const { name, controls, policies, steps } of state.agents) {
      const links = { controlIds: ids(controls), policyIds: ids(policies) };
      await writer.lines(agentLine({ key: key(name), ...links, steps }));
    }
  };
}

/** The ids of the controls that an agent of the state has, descending; with a target, also those bound to it. */
export function controlIdsOf(state: SampleState, agentName: string, targetId?: string): number[] | null {
  const agent = state.agents.find(({ name }) => name === agentName);
  if (agent === undefined) return null;
  const bound = [...state.controls.keys()].filter((at) =>
    state.controls[at]?.targets?.some((one) => one === targetId),
  );
  const positions = [
    ...bound,
    ...agent.controls,
    ...agent.policies.flatMap((policy) => state.policies[policy] ?? []),
  ];
  return [...new Set(ids(positions))].sort((left, right) => right - left);
}

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
const positions = (count: number) =>
  count === 0 ? fc.constant<number[]>([]) : fc.uniqueArray(fc.nat({ max: count - 1 }));

/** Any state, also one without anything. */
export const anyState: fc.Arbitrary<SampleState> = fc
  .record({
    controls: fc.array(
      fc.record({ name: anyText, data: anyText, targets: fc.uniqueArray(anyText, { maxLength: 2 }) }),
      { maxLength: 8 },
    ),
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

/** The controls of an agent in a state, with those that are bound to a target. */
export function stateOf(state: KeptState, agentName: string, targetId?: string): AgentState {
  const of = targetId === undefined ? null : target(targetId);
  const links = state.linksOf(key(agentName), of)?.links ?? null;
  return {
    revision: state.header.revision,
    controls: links === null ? null : state.controlsOf(links),
    policyIds: links?.policyIds ?? [],
  };
}
