import { LIMITS } from '../../../gen/limits/limits.js';
import { BoundedMap } from '../runtime/bounded-map.js';

declare const agentKey: unique symbol;
declare const targetKey: unique symbol;

/**
 * Identifies an agent among those of all namespaces: its name in `default`, elsewhere NAMESPACE/NAME. No name has a slash.
 * Storage, programs, events and counts know agents by their keys; requests and replies by their names.
 */
export type AgentKey = string & { readonly [agentKey]: true };

/** Identifies a target among those of all namespaces. */
export type TargetKey = string & { readonly [targetKey]: true };

/** What an agent works on. */
export interface TargetName {
  readonly type: string;
  readonly id: string;
}

/** A name of a namespace: 1 to 63 characters, as labels of DNS (RFC 1123). */
export const NAMESPACE_NAME = LIMITS.CreateNamespaceRequest.name.pattern;

const SEPARATOR = '/';
/** Most namespaces whose objects are kept: they are small, and made again when they are needed. */
const MAX_KEPT = 10_000;

/** What objects belong to, and what their names are unique in. Equal ones are usually, not always, the same object. */
export class Namespace {
  /** Its key: stable, and part of what is stored. */
  readonly name: string;
  /** What stands before a name to make a key; empty for `default`. */
  readonly prefix: string;

  constructor(name: string) {
    this.name = name;
    this.prefix = name === 'default' ? '' : `${name}${SEPARATOR}`;
  }

  get isDefault(): boolean {
    return this.prefix === '';
  }

  /** The key of an agent of this namespace by its name. */
  agentKey(agentName: string): AgentKey {
    return (this.prefix === '' ? agentName : this.prefix + agentName) as AgentKey;
  }

  /** The key of another named thing, such as a control or a policy. */
  keyOf(name: string): string {
    return this.prefix === '' ? name : this.prefix + name;
  }

  /** Whether a key is that of something in this namespace. */
  contains(key: string): boolean {
    return this.prefix === '' ? !key.includes(SEPARATOR) : key.startsWith(this.prefix);
  }

  /** The key of a target in this namespace. */
  targetKey({ type, id }: TargetName): TargetKey {
    return JSON.stringify([this.name, type, id]) as TargetKey;
  }
}

/** What a key of a target is made of. */
export function targetOfKey(key: TargetKey): TargetName & { readonly namespace: string } {
  const [namespace, type, id] = JSON.parse(key) as [string, string, string];
  return { namespace, type, id };
}

/** The namespace that always exists. */
export const DEFAULT_NAMESPACE = new Namespace('default');

const kept = new BoundedMap<string, Namespace>({ entries: MAX_KEPT });

/** The namespace of a name that matches `NAMESPACE_NAME`. */
export function namespaceNamed(name: string): Namespace {
  if (name === DEFAULT_NAMESPACE.name) return DEFAULT_NAMESPACE;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const made = new Namespace(name);
  kept.set(name, made);
  return made;
}

/** The name in a key, as callers of its namespace know it. */
export function nameOfKey(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? key : key.slice(end + 1);
}

/** The name of the namespace of a key. */
export function namespaceOfKey(key: string): string {
  const end = key.indexOf(SEPARATOR);
  return end === -1 ? DEFAULT_NAMESPACE.name : key.slice(0, end);
}
