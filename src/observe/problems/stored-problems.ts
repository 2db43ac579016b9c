import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { agentProblems } from './agent-problems.js';
import { controlProblems } from './control-problems.js';
import { createDefinitionFaults, type DefinitionFault } from './definition-faults.js';
import { MAX_SUBJECTS, type Problem } from './problem.js';
import type { ProblemStore } from './problem-store.js';

/** The time that "lately" means, in seconds. */
const RECENT_S = 15 * 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** An agent that was evaluated on this many days of a week is expected to be evaluated again. */
const REGULAR_DAYS = 3;
/** Controls with a fault whose agents are counted: so many have one cause, which those show that deny. */
const MAX_COUNTED = 500;

export interface StoredProblemsOptions {
  readonly store: ProblemStore;
  readonly registry: EvaluatorRegistry;
  /** Whether steps of agents without controls are denied. */
  readonly emptyDenies: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonic: () => number;
}

/**
 * Determines the problems that the database tells: the same ones in every process. Rejects with a `ServiceError` when it
 * does not answer.
 */
export function createStoredProblems(options: StoredProblemsOptions): () => Promise<Problem[]> {
  const { store, registry, emptyDenies, now, monotonic } = options;
  const definitionFaults = createDefinitionFaults({ store, registry, monotonic });

  function agentsOf(faults: readonly DefinitionFault[]): Promise<Map<number, number>> {
    const first = [...faults].sort((left, right) => Number(right.denies) - Number(left.denies));
    return store.agentsOf(first.slice(0, MAX_COUNTED).map(({ id }) => id));
  }

  return async function storedProblems() {
    const nowS = Math.floor(now() / 1_000);
    const sinceS = toUnit(nowS - RECENT_S, 60);
    const beforeToS = toUnit(sinceS, HOUR_S);
    // One after the other: the list must not take the connections of the statistics that people wait for.
    const faults = await definitionFaults();
    const agents = await agentsOf(faults);
    const failing = await store.failingControls(sinceS);
    const denied = await store.deniedAgents({ sinceS, beforeFromS: beforeToS - DAY_S, beforeToS });
    const uncontrolled = await store.uncontrolledAgents(MAX_SUBJECTS);
    const overdue = await store.overdueAgents();
    const silent = await store.silentAgents(nowS - 7 * DAY_S, nowS - DAY_S, REGULAR_DAYS);
    return [
      ...controlProblems({ faults, agents, failing }),
      ...agentProblems({ denied, uncontrolled, emptyDenies, overdue, silent, nowS }),
    ];
  };
}

/** The start of the unit of time with this second. */
function toUnit(second: number, unit: number): number {
  return second - (second % unit);
}
