import type { AgentKey } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import type { Step } from '../../kernel/core/types.js';
import type { MismatchedStep } from '../agent-state/step-schema-setting.js';

/** Agents, and steps of each, whose mismatches are kept: those with the latest ones. */
const MAX_AGENTS = 1_000;
const MAX_STEPS = 20;

/** Counts the steps that differ from their registered schemas, by agent and step, in memory. */
export interface MismatchCounts {
  note(agent: AgentKey, step: Pick<Step, 'type' | 'name'>, mismatch: SchemaMismatch): void;
  /** The latest first. */
  of(agent: AgentKey): readonly MismatchedStep[];
}

/** `now`: milliseconds since 1970. */
export function createMismatchCounts(now: () => number): MismatchCounts {
  /** By agent and step, in the order of the last mismatch. */
  const agents = new BoundedMap<AgentKey, BoundedMap<string, MismatchedStep>>({ entries: MAX_AGENTS });
  return {
    note(agent, { type, name }, { part, path, problem }) {
      const steps = agents.use(agent) ?? new BoundedMap({ entries: MAX_STEPS });
      agents.set(agent, steps);
      const key = JSON.stringify([type, name, part]);
      const count = (steps.use(key)?.count ?? 0) + 1;
      steps.set(key, { type, name, part, path, problem, count, lastAtMs: now() });
    },
    of: (agent) => [...(agents.get(agent)?.values() ?? [])].reverse(),
  };
}
