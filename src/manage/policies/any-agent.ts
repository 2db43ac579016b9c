import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import {
  dependsOnAgent,
  policyControlIncompatible,
  readCandidates,
} from '../agents/control-compatibility.js';

/**
 * Agents get the policies that are for every agent, or for those with some labels, as they register. Throws
 * POLICY_CONTROL_INCOMPATIBLE if controls name evaluators that only some agents have, or cannot be read.
 */
export function demandForAnyAgent(controls: readonly StoredDefinition[], registry: EvaluatorRegistry): void {
  const items = readCandidates(controls, registry)
    .filter(dependsOnAgent)
    .map(({ name }) => ({
      resource: 'Control' as const,
      field: 'control_ids',
      code: 'incompatible',
      message: `control "${name}" names an evaluator of one agent, or cannot be read, so it cannot be for agents that are registered later`,
    }));
  if (items.length > 0) throw policyControlIncompatible(items.slice(0, MAX_ERROR_ITEMS));
}
