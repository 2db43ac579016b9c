import type {
  EvaluateResponse,
  PatchOperation as OperationMessage,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../exact-json/src/index.js';
import { isPlainObject } from './step-json.js';
import type { Modification, PatchOperation, Step } from './types.js';

/** The modification of a verdict; undefined without one, and for one that is not understood. */
export function modificationOf({ modification }: EvaluateResponse): Modification | undefined {
  if (modification === undefined) return undefined;
  try {
    const step = parseJson(modification.stepJson);
    if (!isObject(step) || typeof step.name !== 'string' || modification.patch.length === 0) return undefined;
    const patch = modification.patch.map((one) => operationOf(one, step));
    return { patch, step: step as unknown as Step, controlIds: [...modification.controlIds] };
  } catch {
    return undefined;
  }
}

/** Values are those of the changed step, which has all digits of their numbers; the message has doubles. */
function operationOf({ op, path }: OperationMessage, step: JsonObject): PatchOperation {
  if (op === 'remove') return { op, path };
  if (op !== 'replace') throw new TypeError(`the operation ${op} is not known`);
  const [, ...names] = path.split('/').map(unescaped);
  const value = names.reduce<JsonValue | undefined>((data, name) => {
    if (Array.isArray(data)) return data[Number(name)];
    return isObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
  }, step);
  if (value === undefined) throw new TypeError(`the changed step has nothing at ${path}`);
  return { op, path, value };
}

/**
 * Data of a step after its changes. Only what is on the paths of the changes is copied; everything else is the same value as
 * before. Throws a TypeError for changes beyond the member, and of what is neither plain object nor list: a step must not
 * proceed with a part of its changes.
 */
export function changedBy(
  patch: readonly PatchOperation[],
  member: 'input' | 'output',
  value: unknown,
): unknown {
  return patch.reduce((before, one) => {
    const [, root, ...names] = one.path.split('/').map(unescaped);
    if (root !== member) throw new TypeError(`it changes ${one.path}, not only the ${member}`);
    return changedAt(before, names, one);
  }, value);
}

function changedAt(value: unknown, [name, ...names]: readonly string[], change: PatchOperation): unknown {
  if (name === undefined) {
    if (change.op === 'remove') throw new TypeError(`it removes ${change.path} as a whole`);
    return change.value;
  }
  if (Array.isArray(value)) {
    const index = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : value.length;
    if (index < value.length && (names.length > 0 || change.op === 'replace'))
      return value.with(index, changedAt(value[index], names, change));
  } else if (isPlainObject(value) && !('toJSON' in value) && Object.hasOwn(value, name)) {
    const members = Object.entries(value);
    if (names.length === 0 && change.op === 'remove')
      return Object.fromEntries(members.filter(([one]) => one !== name));
    // Unlike assignments this sets a member "__proto__", too.
    return Object.fromEntries(
      members.map(([one, data]) => [one, one === name ? changedAt(data, names, change) : data]),
    );
  }
  throw new TypeError(`there is nothing at ${change.path} that can be changed`);
}

/** A part of a JSON Pointer (RFC 6901). */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
