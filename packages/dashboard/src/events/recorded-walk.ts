import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import {
  type ConditionExplanation,
  ConditionExplanationSchema,
} from '@gen/enforcement/v1/evaluation_service_pb.js';

const MAX_DEPTH = 50;

/**
 * The walk through the condition, if a client has reported it as `condition_trace` in the metadata of its event, in the
 * form of `EvaluatorResult.metadata`. The service does not record it in its own events.
 */
export function recordedWalk(metadata: JsonObject | undefined): ConditionExplanation | undefined {
  return readNode(metadata?.condition_trace, 0);
}

function readNode(node: JsonValue | undefined, depth: number): ConditionExplanation | undefined {
  if (typeof node !== 'object' || node === null || Array.isArray(node) || depth > MAX_DEPTH) return undefined;
  const { type, evaluated, matched, children } = node;
  if (typeof type !== 'string') return undefined;
  const text = (name: string) => (typeof node[name] === 'string' ? { [nameOf(name)]: node[name] } : {});
  return create(ConditionExplanationSchema, {
    type,
    evaluated: evaluated === true,
    ...(typeof matched === 'boolean' ? { matched } : {}),
    ...text('selector_path'),
    ...text('evaluator_name'),
    ...text('short_circuit_reason'),
    ...text('message'),
    ...text('error'),
    children: Array.isArray(children)
      ? children.map((child) => readNode(child, depth + 1)).filter((child) => child !== undefined)
      : [],
  });
}

/** `selector_path` as `selectorPath`. */
function nameOf(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
