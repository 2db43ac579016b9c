import { toJson } from '@bufbuild/protobuf';
import { type Step, StepSchema } from '@gen/enforcement/v1/evaluation_service_pb.js';

/** A step as JSON text, in the form of the JSON routes. */
export function stepText(step: Step | undefined): string {
  return step === undefined ? '' : JSON.stringify(toJson(StepSchema, step, { useProtoFieldName: true }));
}
