import { type Handler, handler } from '../contract/call/handler.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { Verdict } from '../core/types.js';
import { presentHalt, presentLimit } from '../decisions/applied-limits.js';
import { presentModification } from '../decisions/presented-lifts.js';
import { createExplainSchema } from './explain-schema.js';
import type { ExplainService } from './explain-service.js';
import type { TriedVerdict } from './trial.js';

/** The RPC EvaluationService.Explain. */
export function explainHandler(service: ExplainService, registry: EvaluatorRegistry): Handler {
  return handler(createExplainSchema(registry), async (input, context) => {
    // Only data are part of the reply; other parts without effect are reported by the host.
    const ignored = input.data === undefined ? [] : context.ignoredParts();
    // Without authentication every caller has all permissions.
    const { revision, verdict, ...explanation } = await service.explain(
      input,
      { mayKnowAll: context.principal.level !== 'key', context },
      ignored,
    );
    return { verdict: presentVerdict(verdict, revision), ...explanation };
  });
}

/** A verdict as printed by Evaluate. */
function presentVerdict(verdict: TriedVerdict, revision: number): object {
  const present = (results: Verdict['matches']) =>
    results.map(({ steering_context: steering, ...result }) => ({
      ...result,
      steering_context:
        steering === null
          ? null
          : { message: steering.message, required_actions: steering.required_actions ?? [] },
    }));
  const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
  const { selected_controls, evaluated_controls, skipped_controls } = verdict;
  return {
    is_safe,
    confidence,
    reason,
    matches: present(matches),
    errors: present(errors),
    non_matches: present(non_matches),
    revision,
    schema_mismatch: verdict.schema_mismatch,
    outcome: verdict.outcome,
    selected_controls,
    evaluated_controls,
    skipped_controls,
    limits: (verdict.limits ?? []).map(presentLimit),
    ...(verdict.halt === undefined ? {} : { halt: presentHalt(verdict.halt) }),
    ...(verdict.modification === undefined
      ? {}
      : { modification: presentModification(verdict.modification) }),
  };
}
