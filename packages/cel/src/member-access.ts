import { mapValue } from './equality.js';
import type { Code } from './run.js';
import { Boxed, CelMap, Fault, isJsonObject, type Value } from './values.js';

/** Members that every object and list of JavaScript inherits or has: they count only where the JSON has them. */
const INHERITED = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype),
]);

/** Reads a member. `path` names it in messages. */
export function compileSelect(operand: Code, field: string, path: string): Code {
  const missing = new Fault(`${path} is missing`, path);
  const noObject = new Fault(`${path} is no member: the value before it is no object`);
  const slow = (owner: Value): Value => {
    if (owner instanceof Fault) return owner;
    if (owner === null) return missing;
    if (!(owner instanceof CelMap) && !isJsonObject(owner)) return noObject;
    const value = mapValue(owner, field);
    return value === undefined ? missing : value;
  };
  if (INHERITED.has(field)) return (run) => slow(operand(run));
  return (run) => {
    const owner = operand(run);
    if (typeof owner !== 'object' || owner === null || owner instanceof Boxed) return slow(owner);
    const value = (owner as { readonly [name: string]: Value | undefined })[field];
    return value === undefined ? slow(owner) : value;
  };
}

/** `has(operand.field)`: whether the member is there, null included. Null itself has no members. */
export function compileHas(operand: Code, field: string): Code {
  const noObject = new Fault(`has() asks for the member ${field} of a value that is no object`);
  return (run) => {
    const owner = operand(run);
    if (owner instanceof Fault) return owner;
    if (owner === null) return false;
    if (!(owner instanceof CelMap) && !isJsonObject(owner)) return noObject;
    return mapValue(owner, field) !== undefined;
  };
}
