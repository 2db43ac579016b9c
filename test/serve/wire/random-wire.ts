import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { Random } from './random.js';

/** Deepest nesting of groups, and of Values unless a message is meant to be too deep. */
const DEPTH = 5;

/** Whether something is to be odd now; `factor` makes it likelier or less likely. */
export type Odd = (factor?: number) => boolean;

/** At most `most` oddities, so that one alone can be met in a message that is ordinary otherwise. */
export function oddities(random: Random, most: number, chance: number): Odd {
  let left = most;
  return (factor = 1) => {
    if (left === 0 || !random.chance(chance * factor)) return false;
    left -= 1;
    return true;
  };
}

/**
 * Bytes of a message of the type, written without protobuf-es. Odd is what no ordinary writer writes: a field that is
 * unknown, of the wrong wire type, out of order, there twice or broken, or an overlong varint.
 */
export function randomMessage(random: Random, desc: DescMessage, odd: Odd, depth = 0): Buffer {
  if (desc.typeName === 'google.protobuf.Value' && depth > DEPTH + random.count(3)) {
    return random.chance(0.5) ? Buffer.from([0x08, 0x00]) : Buffer.from([0x20, 0x01]);
  }
  const fields = desc.fields.flatMap((field) => {
    if (field.oneof !== undefined) return [];
    const isList = field.fieldKind === 'list' || field.fieldKind === 'map';
    const count = isList ? random.count(depth < 3 ? 6 : 3) : random.chance(0.85) ? 1 : 0;
    return random.list(odd() ? count + 1 : count, () => field);
  });
  for (const oneof of desc.oneofs) {
    if (random.chance(0.95)) fields.push(random.pick(oneof.fields));
    while (odd()) fields.push(random.pick(oneof.fields));
  }
  if (odd()) fields.sort(() => random.below(3) - 1);
  const parts = fields.map((field) => {
    if (odd()) return oddField(random, field.number);
    if (isPacked(field) && !odd()) return packed(random, field, odd);
    return Buffer.concat([tagOf(random, field, odd), fieldValue(random, field, odd, depth)]);
  });
  if (odd()) parts.splice(random.below(parts.length + 1), 0, unknownField(random, DEPTH));
  return Buffer.concat(parts);
}

function fieldValue(random: Random, field: DescField, odd: Odd, depth: number): Buffer {
  if (field.fieldKind === 'map') return delimited(random, mapEntry(random, field, odd, depth), odd);
  if (field.message !== undefined) {
    if (field.message.typeName === 'google.protobuf.Value' && odd(0.2)) {
      return delimited(random, tooDeep(random), odd);
    }
    return delimited(random, randomMessage(random, field.message, odd, depth + 1), odd);
  }
  if (field.fieldKind === 'enum' || isPacked(field)) return varint(random, BigInt(random.below(4)), odd);
  switch (field.fieldKind === 'list' ? undefined : field.scalar) {
    case ScalarType.STRING:
      return delimited(random, randomText(random, odd), odd);
    case ScalarType.BYTES:
      return delimited(random, Buffer.from('{"type":"llm","name":"answer","input":"x"}'), odd);
    case ScalarType.DOUBLE:
      return double(random, odd);
    case ScalarType.BOOL:
      return varint(random, random.chance(0.5) ? 1n : 0n, odd);
    case ScalarType.INT32:
      return varint(
        random,
        random.pick([0n, 1n, 999_999_999n, 1_000_000_000n, 2n ** 31n, 2n ** 64n - 1n]),
        odd,
      );
    case ScalarType.INT64:
      return varint(random, random.pick([0n, 7n, 300n, 2n ** 35n, 2n ** 53n - 1n, 2n ** 62n]), odd);
    default:
      throw new Error(`no values for ${field.toString()}`);
  }
}

function mapEntry(random: Random, field: DescField & { fieldKind: 'map' }, odd: Odd, depth: number): Buffer {
  const { message } = field;
  if (message === undefined) throw new Error(`no entries for ${field.toString()}`);
  const name = odd(0.5)
    ? random.pick(['__proto__', 'constructor', '7', '07', ''])
    : random.pick(['a', 'b', 'to', 'text', 'user_id', 'x'.repeat(random.below(60))]);
  const key = Buffer.concat([Buffer.from([0x0a]), delimited(random, Buffer.from(name), odd)]);
  const value = Buffer.concat([
    Buffer.from([0x12]),
    delimited(random, randomMessage(random, message, odd, depth + 1), odd),
  ]);
  if (!odd()) return Buffer.concat([key, value]);
  return Buffer.concat(random.pick([[key], [value], [value, key], [key, key, value], [], [value, value]]));
}

const WIRE_TYPES: Partial<Record<ScalarType, number>> = {
  [ScalarType.STRING]: 2,
  [ScalarType.BYTES]: 2,
  [ScalarType.DOUBLE]: 1,
};

function isPacked(field: DescField): boolean {
  return field.fieldKind === 'list' && field.listKind === 'enum';
}

/** Some values of a list in its packed form. */
function packed(random: Random, field: DescField, odd: Odd): Buffer {
  const values = random.list(random.count(4), () => varint(random, BigInt(random.below(8)), odd));
  const tag = varint(random, BigInt((field.number << 3) | 2), odd);
  return Buffer.concat([tag, delimited(random, Buffer.concat(values), odd)]);
}

function tagOf(random: Random, field: DescField, odd: Odd): Buffer {
  const isDelimited = field.message !== undefined || field.fieldKind === 'map';
  const wireType = isDelimited ? 2 : (WIRE_TYPES[field.scalar ?? ScalarType.INT32] ?? 0);
  const type = odd(0.5) ? random.below(8) : wireType;
  return varint(random, BigInt((field.number << 3) | type), odd);
}

/** A known field number with something else behind it. */
function oddField(random: Random, number: number): Buffer {
  const type = random.below(8);
  return Buffer.concat([plainVarint(BigInt((number << 3) | type)), payload(random, number, type, 2)]);
}

function unknownField(random: Random, depth: number): Buffer {
  const number = random.pick([0, 7, 8, 15, 16, 100, 2047, 2048, 2 ** 28, 2 ** 29 - 1]);
  const type = random.pick([0, 0, 1, 2, 2, 3, 3, 4, 5, 6]);
  return Buffer.concat([plainVarint(BigInt(number * 8 + type)), payload(random, number, type, depth)]);
}

function payload(random: Random, number: number, type: number, depth: number): Buffer {
  switch (type) {
    case 0:
      return varint(random, BigInt(random.below(100_000)), oddities(random, 1, 0.2));
    case 1:
      return Buffer.alloc(8, random.below(256));
    case 2:
      return delimited(random, Buffer.alloc(random.below(20), random.below(256)), () => false);
    case 3: {
      const inner = depth > 0 ? random.list(random.below(3), () => unknownField(random, depth - 1)) : [];
      const closing = random.chance(0.9) ? number : number + 1;
      return Buffer.concat([...inner, plainVarint(BigInt(closing * 8 + 4))]);
    }
    case 5:
      return Buffer.alloc(4, random.below(256));
    default:
      return Buffer.alloc(0);
  }
}

/** Values nested deeper than is allowed; some even deeper than messages may be. */
function tooDeep(random: Random): Buffer {
  let value: Buffer = Buffer.from([0x20, 0x01]);
  const levels = random.pick([195, 198, 199, 200, 201, 205, 340, 400]);
  const isList = random.chance(0.5);
  for (let level = 0; level < levels; level += 1) {
    const inner = Buffer.concat([plainVarint(BigInt(value.length)), value]);
    const item = isList
      ? Buffer.concat([Buffer.from([0x0a]), inner])
      : entryOf(Buffer.concat([Buffer.from([0x0a, 0x01, 0x61, 0x12]), inner]));
    value = Buffer.concat([Buffer.from([isList ? 0x32 : 0x2a]), plainVarint(BigInt(item.length)), item]);
  }
  return value;
}

function entryOf(entry: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x0a]), plainVarint(BigInt(entry.length)), entry]);
}

function double(random: Random, odd: Odd): Buffer {
  const bytes = Buffer.alloc(8);
  const unwanted = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  bytes.writeDoubleLE(random.pick(odd() ? unwanted : [0, -0, 1, -1.5, 2 ** 53, 1e300]));
  return bytes;
}

const TEXTS = [
  '',
  'tool',
  'send_mail',
  'agent-name-0001',
  'Zürich',
  '漢字かな',
  '😀',
  '\ufffd',
  'x'.repeat(41),
];
const ODD_TEXTS: readonly Buffer[] = [
  Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0xff]),
  Buffer.from([0xc3]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xf4, 0x90, 0x80, 0x80]),
  Buffer.from(`${'long '.repeat(20)}\u{1f600}`).subarray(0, 103),
];

function randomText(random: Random, odd: Odd): Buffer {
  if (odd()) return random.pick(ODD_TEXTS);
  if (random.chance(0.1)) return Buffer.from(random.pick(TEXTS).repeat(random.below(40)));
  return Buffer.from(random.pick(TEXTS));
}

function delimited(random: Random, bytes: Buffer, odd: Odd): Buffer {
  const shift = odd(0.3) ? random.below(7) - 3 : 0;
  return Buffer.concat([varint(random, BigInt(Math.max(0, bytes.length + shift)), odd), bytes]);
}

/** A varint, which when odd is longer than it has to be, negative, or longer than is allowed. */
function varint(random: Random, value: bigint, odd: Odd): Buffer {
  if (!odd()) return plainVarint(value);
  if (random.chance(0.2)) return plainVarint(BigInt.asUintN(64, -value - 1n));
  const bytes = [...plainVarint(value)];
  const more = random.below(11);
  for (let index = 0; index < more; index += 1) {
    bytes.push(((bytes.pop() ?? 0) | 0x80) & 0xff, random.chance(0.1) ? 0x01 : 0x00);
  }
  return Buffer.from(bytes);
}

function plainVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** Damages the bytes of a message: flips, cuts, repeats, splices with `other`. */
export function mutated(random: Random, message: Buffer, other: Buffer): Buffer {
  let bytes = Buffer.from(message);
  for (let times = 1 + random.count(3); times > 0; times -= 1) {
    const at = random.below(bytes.length + 1);
    const to = at + random.below(bytes.length + 1 - at);
    switch (random.below(6)) {
      case 0:
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        if (at < bytes.length) bytes[at] = random.pick([0x00, 0x7f, 0x80, 0xff, random.below(256)]);
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at, to), bytes.subarray(to)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length + 1))]);
    }
  }
  return bytes;
}
