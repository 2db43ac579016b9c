import type { MismatchedStep } from '../agents/step-schema-setting.js';
import { BoundedMap } from '../contract/bounded-map.js';
import type { SchemaMismatch } from '../core/step-schemas.js';
import type { Step } from '../core/types.js';

/** Agents, and steps of each, whose mismatches are kept: those with the latest ones. */
const MAX_AGENTS = 1_000;
const MAX_STEPS = 20;

/** Counts the steps that differ from their registered schemas, by agent and step, in memory. */
export interface MismatchCounts {
  note(agentName: string, step: Pick<Step, 'type' | 'name'>, mismatch: SchemaMismatch): void;
  /** The latest first. */
  of(agentName: string): readonly MismatchedStep[];
}

/** `now`: milliseconds since 1970. */
export function createMismatchCounts(now: () => number): MismatchCounts {
  /** By agent and step, in the order of the last mismatch. */
  const agents = new BoundedMap<string, BoundedMap<string, MismatchedStep>>({ entries: MAX_AGENTS });
  return {
    note(agentName, { type, name }, { part, path, problem }) {
      const steps = agents.use(agentName) ?? new BoundedMap({ entries: MAX_STEPS });
      agents.set(agentName, steps);
      const key = JSON.stringify([type, name, part]);
      const count = (steps.use(key)?.count ?? 0) + 1;
      steps.set(key, { type, name, part, path, problem, count, lastAtMs: now() });
    },
    of: (agentName) => [...(agents.get(agentName)?.values() ?? [])].reverse(),
  };
}
