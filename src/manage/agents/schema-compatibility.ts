import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';

/**
 * Why configurations that satisfied `old` may violate `next`: one text for each change, none when `next` can
 * replace it. Only properties and their presence in `required` count; bounds, patterns and descriptions do
 * not. An invalid schema where one is expected counts as a property of unknown type.
 */
export function incompatibleChanges(old: JsonObject, next: JsonObject): string[] {
  // Without former requirements there is nothing to rely on.
  if (Object.keys(old).length === 0) return [];
  const changes: string[] = [];
  compareObjects(old, next, '', changes);
  return changes;
}

function compareObjects(old: JsonObject, next: JsonObject, path: string, changes: string[]): void {
  const oldProperties = objectMember(old, 'properties');
  const nextProperties = objectMember(next, 'properties');
  const kept = Object.keys(oldProperties).filter((name) => Object.hasOwn(nextProperties, name));
  const removed = Object.keys(oldProperties).filter((name) => !Object.hasOwn(nextProperties, name));
  for (const name of removed.sort()) changes.push(`Removed property "${path}${name}"`);
  for (const name of kept) {
    compareProperties(oldProperties[name], nextProperties[name], `${path}${name}`, changes);
  }
  const required = requiredNames(old);
  for (const name of requiredNames(next)) {
    if (required.has(name)) continue;
    const before = Object.hasOwn(oldProperties, name) ? ', which was optional' : '';
    changes.push(`Added required property "${path}${name}"${before}`);
  }
}

function compareProperties(
  old: JsonValue | undefined,
  next: JsonValue | undefined,
  path: string,
  changes: string[],
): void {
  const oldType = typeLabel(old);
  const nextType = typeLabel(next);
  if (oldType !== nextType) {
    changes.push(`Property "${path}": type changed from ${oldType} to ${nextType}`);
    return;
  }
  if (!isObject(old) || !isObject(next)) return;
  if (oldType === 'object') compareObjects(old, next, `${path}.`, changes);
  if (oldType === 'array<object>') {
    compareObjects(objectMember(old, 'items'), objectMember(next, 'items'), `${path}[].`, changes);
  }
}

/** The parts of two schemas that make them the same type. */
function typeLabel(schema: JsonValue | undefined): string {
  let inner = schema;
  let arrays = 0;
  for (;;) {
    if (!isObject(inner) || ownMember(inner, 'type') !== 'array') break;
    const items = ownMember(inner, 'items');
    if (items === undefined) break;
    arrays += 1;
    inner = items;
  }
  return `${'array<'.repeat(arrays)}${plainTypeLabel(inner)}${'>'.repeat(arrays)}`;
}

function plainTypeLabel(schema: JsonValue | undefined): string {
  if (!isObject(schema)) return 'unknown';
  const type = ownMember(schema, 'type');
  if (typeof type === 'string') return type;
  if (type !== undefined) return listText(type);
  const values = ownMember(schema, 'enum');
  if (values !== undefined) return `enum of ${Array.isArray(values) ? values.length : 0}`;
  const reference = ownMember(schema, '$ref');
  if (reference !== undefined) return `reference to ${typeof reference === 'string' ? reference : 'nothing'}`;
  if (ownMember(schema, 'anyOf') !== undefined) return 'anyOf';
  if (ownMember(schema, 'oneOf') !== undefined) return 'oneOf';
  return 'unknown';
}

/** A list of types as text, in its order; anything else in place of a type is unknown. */
function listText(type: JsonValue): string {
  const isListOfTypes = Array.isArray(type) && type.every((one) => typeof one === 'string');
  return isListOfTypes ? JSON.stringify(type) : 'unknown';
}

function requiredNames(schema: JsonObject): Set<string> {
  const required = ownMember(schema, 'required');
  const names = Array.isArray(required) ? required : [];
  return new Set(names.filter((name) => typeof name === 'string'));
}

function objectMember(schema: JsonObject, name: string): JsonObject {
  const member = ownMember(schema, name);
  return isObject(member) ? member : {};
}

function ownMember(schema: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}
