import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { definitionValue } from '../../control-parts/definition-json.js';

/** What versions of a control are compared by. */
interface VersionContent {
  readonly name: string;
  readonly data?: ControlDefinition | undefined;
}

/** Name and definition of a version as one JSON value. */
export function versionValue({ name, data }: VersionContent): Record<string, unknown> {
  return { name, ...(data === undefined ? {} : definitionValue(data)) };
}

/** Name and definition of a version as JSON text. */
export function versionJson(content: VersionContent): string {
  return JSON.stringify(versionValue(content), null, 2);
}
