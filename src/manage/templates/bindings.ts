import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { fieldPath } from '../../contract/input/items.js';
import type { TemplateValues } from './template.js';

/** The member that makes an object a binding. */
export const PARAM = '$param';

/** Longest path of a place: relevant ones are far shorter, and member names may be megabytes long. */
const MAX_PATH_LENGTH = 1_000;

/** An object of a definition template that has the member `$param`. */
export interface BindingPlace {
  readonly object: JsonObject;
  readonly path: readonly PropertyKey[];
}

/** The bindings of a definition template in document order, valid or not. Their content is not searched. */
export function* bindingPlaces(
  value: JsonValue,
  path: readonly PropertyKey[] = [],
): Generator<BindingPlace, void> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* bindingPlaces(item, [...path, index]);
  } else if (isObject(value)) {
    if (isPlaceholder(value)) yield { object: value, path };
    else for (const [name, member] of Object.entries(value)) yield* bindingPlaces(member, [...path, name]);
  }
}

/** Whether an object stands for the value of a parameter, well-formed or not. */
export function isPlaceholder(object: JsonObject): boolean {
  return Object.hasOwn(object, PARAM);
}

/** The parameter of a well-formed binding; undefined for anything else. */
export function boundParameter(object: JsonObject): string | undefined {
  const { [PARAM]: parameter, ...others } = object;
  return typeof parameter === 'string' && Object.keys(others).length === 0 ? parameter : undefined;
}

/** Path of a place as text; cut where it is excessively long. */
export function placeText(path: readonly PropertyKey[]): string {
  return isLong(path) ? `${fieldPath(path).slice(0, MAX_PATH_LENGTH)}…` : fieldPath(path);
}

function isLong(path: readonly PropertyKey[]): boolean {
  let length = 0;
  for (const part of path) length += String(part).length + 2;
  return length > MAX_PATH_LENGTH;
}

/** A definition made from a definition template, with the parameter of each place by its path. */
export interface BoundDefinition {
  readonly definition: JsonValue;
  readonly parameterAt: ReadonlyMap<string, string>;
}

/** Replaces the bindings by the values. Every binding must be well-formed and have a value. */
export function bindValues(definitionTemplate: JsonValue, values: TemplateValues): BoundDefinition {
  const parameterAt = new Map<string, string>();
  for (const { object, path } of bindingPlaces(definitionTemplate)) {
    const parameter = boundParameter(object);
    if (parameter !== undefined && !isLong(path)) parameterAt.set(fieldPath(path), parameter);
  }
  return { definition: withValues(definitionTemplate, values), parameterAt };
}

function withValues(value: JsonValue, values: TemplateValues): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withValues(item, values));
  if (!isObject(value)) return value;
  const parameter = boundParameter(value);
  if (parameter !== undefined) return values[parameter] as JsonValue;
  // Not by assignment, which would turn a member named `__proto__` into the prototype.
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withValues(one, values)]));
}

/** Total size of the bound values in the definition, in characters and list items. */
export function boundSize(definitionTemplate: JsonValue, values: TemplateValues): number {
  const sizes = new Map(Object.entries(values).map(([name, value]) => [name, sizeOf(value)]));
  let size = 0;
  for (const { object } of bindingPlaces(definitionTemplate)) {
    size += sizes.get(boundParameter(object) ?? '') ?? 0;
  }
  return size;
}

function sizeOf(value: TemplateValues[string]): number {
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'string') return value.length;
  return value.reduce((sum, item) => sum + item.length + 1, 0);
}
