import type { JsonValue } from '@bufbuild/protobuf';
import type { Finding } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { isJsonObject, ownMember } from '../code/json-members.js';

/** A found text between what stands around it. */
export interface FoundText {
  readonly before: string;
  readonly found: string;
  readonly after: string;
}

/** Characters that are shown on either side. */
const AROUND = 30;
const MAX_FOUND = 120;

/**
 * The text of a finding, read from the step that the viewer has given: replies never have it. Undefined where the step
 * has no such text, for example because it was changed since.
 */
export function foundText(
  step: JsonValue | undefined,
  selectorPath: string,
  finding: Pick<Finding, 'path' | 'inName' | 'start' | 'end'>,
): FoundText | undefined {
  const text = textAt(selectedData(step, selectorPath), finding.path, finding.inName);
  const { start, end } = finding;
  if (text === undefined || start < 0 || start >= end || end > text.length) return undefined;
  const found = text.slice(start, end);
  return {
    before: `${start > AROUND ? '…' : ''}${text.slice(Math.max(0, start - AROUND), start)}`,
    found: found.length > MAX_FOUND ? `${found.slice(0, MAX_FOUND)}…` : found,
    after: `${text.slice(end, end + AROUND)}${end + AROUND < text.length ? '…' : ''}`,
  };
}

/** The part of a step that a selector selects. Its path goes through objects only. */
function selectedData(step: JsonValue | undefined, path: string): JsonValue | undefined {
  if (path === '' || path === '*') return step;
  let data = step;
  for (const name of path.split('.')) data = isJsonObject(data) ? ownMember(data, name) : undefined;
  return data;
}

/** The text at a JSON Pointer (RFC 6901), or the name of the member there. */
function textAt(data: JsonValue | undefined, pointer: string, inName: boolean): string | undefined {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let value = data;
  for (const step of steps) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isJsonObject(value) ? ownMember(value, step) : undefined;
  }
  if (value === undefined) return undefined;
  if (inName) return steps.at(-1);
  if (typeof value === 'string') return value;
  // The digits of larger numbers are not those that were sent.
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
