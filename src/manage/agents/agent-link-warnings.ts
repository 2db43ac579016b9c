import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { named, reviewLink } from '../controls/link-warnings.js';
import type { AgentRow } from './agent-store.js';
import { expressionNotes } from './expression-notes.js';
import { stepNotes } from './step-notes.js';
import { addSteps, emptyCatalogue } from './steps-catalogue.js';

/** Reasons why controls that an agent gets, by a link or a policy, have no effect on it. */
export function agentLinkWarnings(
  agent: AgentRow,
  controls: readonly StoredDefinition[],
  registry: EvaluatorRegistry,
): Warning[] {
  const owner = `agent "${agent.name}"`;
  const catalogue = emptyCatalogue(owner, true);
  addSteps(catalogue, agent.data);
  const neverAsked = agent.controlsAskedAtMs === null ? `the client of ${owner}` : null;
  return listed(warnings());

  function* warnings(): Generator<Warning, void> {
    for (const control of controls) {
      const review = reviewLink(control, registry, neverAsked);
      yield* review.warnings;
      // Without steps the agent's actions are unknown.
      if (review.definition === null || catalogue.steps.length === 0) continue;
      const { notes, refused } = expressionNotes(review.definition, catalogue);
      const ofExpressions = [...refused.map(({ warning }) => warning), ...notes];
      for (const note of [...stepNotes(review.definition, catalogue), ...ofExpressions]) {
        yield named(control, note);
      }
    }
  }
}
