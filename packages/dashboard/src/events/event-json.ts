import { toJson } from '@bufbuild/protobuf';
import {
  type ControlExecutionEvent,
  ControlExecutionEventSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';

/** Members with words instead of names of enum values, and the prefix of these names. */
const WORDS = { check_stage: 'STAGE_', applies_to: 'APPLIES_TO_', action: 'DECISION_' } as const;

/** An event as a JSON value, in the form of the JSON route of ExportEvents with `include_step`. */
export function eventJson(event: ControlExecutionEvent): Record<string, unknown> {
  const known = toJson(ControlExecutionEventSchema, event, { useProtoFieldName: true }) as Record<
    string,
    unknown
  >;
  const json: Record<string, unknown> = {};
  for (const { name } of ControlExecutionEventSchema.fields) json[name] = known[name] ?? null;
  for (const [member, prefix] of Object.entries(WORDS)) {
    json[member] = String(json[member]).replace(prefix, '').toLowerCase();
  }
  // Revisions are below 2^53; protobuf prints 64-bit integers as text.
  json.revision = event.revision === undefined ? null : Number(event.revision);
  json.metadata ??= {};
  return json;
}
