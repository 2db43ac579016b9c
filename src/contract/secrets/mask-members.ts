import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { MASK, maskCredentials } from './mask-credentials.js';
import { isSecretMember } from './secret-names.js';

/** Shorter secrets are not looked for in other texts, where they would be parts of ordinary words. */
const MIN_QUOTED_LENGTH = 4;
/** Most secrets of one value that are looked for in its other texts; the time grows with each. */
const MAX_QUOTED = 100;
/** Members that name what a sibling holds, and these siblings: `{"name": "Authorization", "value": …}`. */
const NAMING_MEMBERS = ['name', 'key', 'header'];
const NAMED_MEMBERS = new Set(['value', 'values', 'default']);

/**
 * The value with MASK in place of each member whose name, or whose sibling with a name, marks a secret, whatever the
 * member holds; of what has the form of a credential in other texts; and of masked texts that others quote, such as a
 * pattern that was rendered from a template. Parts without a secret are shared with the given value, which is not
 * changed.
 */
export function maskMembers(value: JsonValue): JsonValue {
  const quoted = new Set<string>();
  const masked = maskNamed(value, quoted);
  return maskTexts(masked, [...quoted]);
}

/** The value without the members that are secret by name, whose texts are added to `quoted`. */
function maskNamed(value: JsonValue, quoted: Set<string>): JsonValue {
  if (Array.isArray(value)) return mapItems(value, (item) => maskNamed(item, quoted));
  if (!isObject(value)) return value;
  const isSecret = secretMembersOf(value);
  return mapMembers(value, (member, name) => {
    if (!isSecret(name)) return maskNamed(member, quoted);
    collectTexts(member, quoted);
    return MASK;
  });
}

/** Tells which members of an object are secret: by their names, or because a sibling names them. */
export function secretMembersOf(value: JsonObject): (name: string) => boolean {
  const names = Object.keys(value);
  const namesSibling = names.some((name) => NAMED_MEMBERS.has(name.toLowerCase()));
  const isNamedSecret = names.some((name) => {
    const text = isNaming(name) ? value[name] : undefined;
    return typeof text === 'string' && isSecretMember(text);
  });
  return (name) =>
    (isSecretMember(name) && !(isNaming(name) && namesSibling)) ||
    (isNamedSecret && NAMED_MEMBERS.has(name.toLowerCase()));
}

function isNaming(name: string): boolean {
  return NAMING_MEMBERS.includes(name.toLowerCase());
}

function collectTexts(secret: JsonValue, quoted: Set<string>): void {
  if (quoted.size >= MAX_QUOTED) return;
  if (typeof secret === 'string' && secret.length >= MIN_QUOTED_LENGTH) quoted.add(secret);
  else if (Array.isArray(secret)) for (const item of secret) collectTexts(item, quoted);
  // A parameter of a template: its other members describe it.
  else if (isObject(secret) && Object.hasOwn(secret, 'default')) collectTexts(secret.default ?? null, quoted);
}

function maskTexts(value: JsonValue, quoted: readonly string[]): JsonValue {
  if (Array.isArray(value)) return mapItems(value, (item) => maskTexts(item, quoted));
  if (isObject(value)) return mapMembers(value, (member) => maskTexts(member, quoted));
  if (typeof value !== 'string') return value;
  const plain = quoted.reduce((text, secret) => text.split(secret).join(MASK), value);
  return maskCredentials(plain);
}

function mapItems(items: JsonValue[], map: (item: JsonValue) => JsonValue): JsonValue[] {
  const mapped = items.map(map);
  return mapped.some((item, index) => item !== items[index]) ? mapped : items;
}

function mapMembers(value: JsonObject, map: (member: JsonValue, name: string) => JsonValue): JsonObject {
  const mapped: JsonObject = {};
  let isChanged = false;
  for (const [name, member] of Object.entries(value)) {
    const kept = map(member, name);
    isChanged ||= kept !== member;
    // A member may be named __proto__.
    Object.defineProperty(mapped, name, {
      value: kept,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return isChanged ? mapped : value;
}
