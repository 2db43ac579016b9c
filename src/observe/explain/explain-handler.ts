import { z } from 'zod';
import { type Handler, type HandlerCall, handler, type MessageReader } from '../../contract/call/handler.js';
import { parseInput } from '../../contract/input/parse-input.js';
import { presentHalt, presentLimit } from '../../decide/decisions/applied-limits.js';
import { presentModification } from '../../decide/decisions/presented-lifts.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Verdict } from '../../kernel/core/types.js';
import { createControlDataSchema } from '../../manage/controls/control-data.js';
import { createExplainSchema, type ExplainInput } from './explain-schema.js';
import type { ExplainService, HeldExplain } from './explain-service.js';
import type { TriedVerdict } from './trial.js';

/** The RPC EvaluationService.Explain. `reader` reads large messages. */
export function explainHandler(
  service: ExplainService,
  registry: EvaluatorRegistry,
  reader?: MessageReader<HeldExplain>,
): Handler {
  // The other thread does not know the configurations of all evaluators.
  const heldData = z.object({ data: createControlDataSchema(registry).optional() });
  const explain = async (sent: ExplainInput | HeldExplain, context: HandlerCall) => {
    const input = 'held' in sent ? { ...sent, ...parseInput(heldData, { data: sent.data }) } : sent;
    // Only data are part of the reply; other parts without effect are reported by the host.
    const ignored = input.data === undefined ? [] : context.ignoredParts();
    // Without authentication every caller has all permissions.
    const { revision, verdict, ...explanation } = await service.explain(
      input,
      { mayKnowAll: context.principal.level !== 'key', context },
      ignored,
    );
    return { verdict: presentVerdict(verdict, revision), ...explanation };
  };
  return { ...handler(createExplainSchema(registry), explain), reader };
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
