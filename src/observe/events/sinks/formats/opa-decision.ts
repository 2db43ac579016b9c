import type { JsonObject } from '../../../../../packages/exact-json/src/index.js';
import type { TailEvent } from '../../store/event-tail.js';
import { type ExportSource, plainEvent } from './plain-event.js';

/** The step itself is never part of an event. */
const ERASED = { pre: ['/input/step/input'], post: ['/input/step/input', '/input/step/output'] };

/**
 * A stored event as an entry of a decision log of OPA (https://www.openpolicyagent.org/docs/decision-logs): the check of one
 * control is the decision of one policy, and the verdict about the step the batch that it belongs to.
 */
export function opaDecision(tail: Pick<TailEvent, 'position' | 'event'>, source: ExportSource): JsonObject {
  const { id, namespace, agent, time, trace, position, outcome } = plainEvent(tail);
  const { event } = tail;
  const { error_message: error, execution_duration_ms: ms, decision_id: decision, revision } = event;
  return {
    labels: {
      app: 'control-enforcement-service',
      id: source.instance,
      version: source.version,
      namespace,
    },
    decision_id: id,
    ...(decision === null ? {} : { batch_decision_id: decision }),
    ...(trace === null ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
    ...(revision === null ? {} : { bundles: { controls: { revision: String(revision) } } }),
    path: `${namespace}/${event.control_name}`,
    input: {
      agent_name: agent,
      namespace,
      stage: event.check_stage,
      applies_to: event.applies_to,
      session_id: event.session_id,
      step: { id: event.step_id, type: event.step_type, name: event.step_name },
    },
    result: {
      control_id: event.control_id,
      action: event.action,
      matched: event.matched,
      outcome,
      confidence: event.confidence,
      evaluator_name: event.evaluator_name,
      selector_path: event.selector_path,
      metadata: event.metadata,
      position,
    },
    ...(error === null ? {} : { error: { message: error } }),
    erased: ERASED[event.check_stage],
    requested_by: agent,
    timestamp: time,
    ...(ms === null ? {} : { metrics: { timer_rego_query_eval_ns: Math.round(ms * 1e6) } }),
  };
}
