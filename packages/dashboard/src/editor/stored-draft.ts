import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { definitionValue } from '../control-parts/definition-json.js';
import type { JsonObject } from './json.js';

/** A stored definition as a draft. Null if it could not be read. */
export function draftOf(definition: ControlDefinition | undefined): JsonObject | null {
  return definition === undefined ? null : (definitionValue(definition) as JsonObject);
}

/** A draft that is written out, without the template that it was rendered from. */
export function withoutTemplate({ template: _, template_values: __, ...draft }: JsonObject): JsonObject {
  return draft;
}
