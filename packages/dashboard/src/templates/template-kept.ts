import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject } from '../code/json-members.js';

/** What is kept of a template and its values that are not saved. */
export interface KeptTemplate {
  /** Of a new control; blank for a stored one. */
  readonly name: string;
  /** The template as JSON text, valid or not. */
  readonly text: string;
  readonly values: JsonObject;
  /** The version that it started from; null for a new control. */
  readonly version: bigint | null;
}

/** Where the values of a stored control are kept. */
export function valuesPlace(controlId: number): string {
  return `values ${controlId}`;
}

export function keptTemplate({ name, text, values, version }: KeptTemplate): JsonObject {
  return { name, text, values, version: version === null ? null : String(version) };
}

/** A kept template; null if it is in no form that is known. */
export function readKeptTemplate(kept: JsonValue): KeptTemplate | null {
  if (!isJsonObject(kept)) return null;
  const { name, text, values, version } = kept;
  if (typeof name !== 'string' || typeof text !== 'string') return null;
  if (values === undefined || !isJsonObject(values)) return null;
  if (version === null) return { name, text, values, version };
  if (typeof version !== 'string' || !/^\d{1,18}$/.test(version)) return null;
  return { name, text, values, version: BigInt(version) };
}
