import type { CelType, MemberType, VariableTypes } from '../../../../packages/cel/src/index.js';

/** A type without parts. */
type PlainKind = Exclude<CelType, { kind: 'list' | 'map' | 'object' | 'union' }>['kind'];

/** The type of values of one kind. */
export function plain(kind: PlainKind): CelType {
  return { kind };
}

export const ANY: CelType = plain('any');

/** The types of the data of steps: those of `input`, `output` and `context`. */
export interface StepTypes {
  readonly input: CelType;
  readonly output: CelType;
  readonly context: CelType;
}

export const UNKNOWN_STEP: StepTypes = { input: ANY, output: ANY, context: ANY };

/** The variables of an expression, in the order of their indexes. */
export const VARIABLE_NAMES = [
  'input',
  'output',
  'context',
  'type',
  'name',
  'stage',
  'agent',
  'value',
  'now',
] as const;

/** The types of the variables, for data of these types that a selector selects. */
export function variableTypes(step: StepTypes, selectorPath: string): VariableTypes {
  const types: Readonly<Record<(typeof VARIABLE_NAMES)[number], CelType>> = {
    ...step,
    type: plain('string'),
    name: plain('string'),
    stage: plain('string'),
    agent: AGENT,
    value: selectedType(step, selectorPath),
    now: plain('timestamp'),
  };
  return new Map(VARIABLE_NAMES.map((name) => [name, types[name]]));
}

function member(type: CelType, description: string): MemberType {
  return { type, required: true, description };
}

const AGENT: CelType = {
  kind: 'object',
  open: false,
  members: new Map([
    ['name', member(plain('string'), 'Name of the agent.')],
    ['metadata', member({ kind: 'map', value: ANY }, 'Metadata of the registration of the agent.')],
  ]),
};

/** The type of what a selector selects; null is possible, because the path may not resolve. */
function selectedType({ input, output, context }: StepTypes, path: string): CelType {
  const [root = '*', ...keys] = path.split('.');
  if (root === '*') {
    if (keys.length > 0) return plain('null');
    const members = { type: plain('string'), name: plain('string'), input, output, context };
    return {
      kind: 'object',
      open: false,
      members: new Map(Object.entries(members).map(([name, type]) => [name, { type, required: true }])),
    };
  }
  if (root === 'type' || root === 'name') return plain(keys.length === 0 ? 'string' : 'null');
  let type = root === 'input' ? input : root === 'output' ? output : context;
  for (const key of keys) type = memberType(type, key);
  return keys.length === 0 ? type : unionOf([type, plain('null')]);
}

function memberType(type: CelType, key: string): CelType {
  switch (type.kind) {
    case 'object': {
      const known = type.members.get(key);
      if (known !== undefined) return known.type;
      return type.open ? ANY : plain('null');
    }
    case 'map':
      return type.value;
    case 'union':
      return unionOf(type.types.map((one) => memberType(one, key)));
    case 'any':
      return ANY;
    default:
      return plain('null');
  }
}

/** The union of types, flat and without repetitions of plain ones; `any` when one of them is unknown. */
export function unionOf(types: readonly CelType[]): CelType {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.types : [type]));
  if (flat.length === 0 || flat.some(({ kind }) => kind === 'any')) return ANY;
  const seen = new Set<string>();
  const distinct = flat.filter((type) => {
    if (type.kind === 'list' || type.kind === 'map' || type.kind === 'object') return true;
    if (seen.has(type.kind)) return false;
    seen.add(type.kind);
    return true;
  });
  const [only] = distinct;
  return distinct.length === 1 && only !== undefined ? only : { kind: 'union', types: distinct };
}

type ObjectType = Extract<CelType, { kind: 'object' }>;

/**
 * The type of values of any of some types. Objects become one, with the members of all: an expression may read a member
 * that only some of them have. Unknown if one of them is, or if there are none.
 */
export function mergedType(types: readonly CelType[]): CelType {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.types : [type]));
  if (flat.length === 0 || flat.some(({ kind }) => kind === 'any')) return ANY;
  const objects = flat.filter((type): type is ObjectType => type.kind === 'object');
  const others = flat.filter(({ kind }) => kind !== 'object');
  return unionOf(objects.length === 0 ? others : [mergedObject(objects), ...others]);
}

function mergedObject(objects: readonly ObjectType[]): CelType {
  const [only] = objects;
  if (only !== undefined && objects.length === 1) return only;
  const found = new Map<string, MemberType[]>();
  for (const { members } of objects) {
    for (const [name, member] of members) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [member]);
      else known.push(member);
    }
  }
  const members = new Map<string, MemberType>();
  for (const [name, all] of found) {
    const description = all.find((member) => member.description !== undefined)?.description;
    members.set(name, {
      type: mergedType(all.map(({ type }) => type)),
      required: all.length === objects.length && all.every(({ required }) => required),
      ...(description === undefined ? {} : { description }),
    });
  }
  return { kind: 'object', members, open: objects.some(({ open }) => open) };
}
