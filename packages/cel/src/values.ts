import { Decimal, type JsonObject } from '../../exact-json/src/index.js';

/**
 * A value during evaluation. JSON values are what they are: a JavaScript number that is whole is an int of CEL, another
 * one a double; a bigint is an int; a Decimal a double that is compared exactly. What JSON does not have is boxed.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Decimal
  | readonly Value[]
  | Boxed
  | JsonObject;

export type ValueKind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'ip'
  | 'cidr'
  | 'type'
  | 'fault';

/** A value that JSON does not have. */
export abstract class Boxed {
  abstract readonly kind: ValueKind;
}

/** An error. It is a value, because `&&` and `||` ignore errors of one side where the other decides. */
export class Fault extends Boxed {
  readonly kind = 'fault';
  readonly message: string;
  /** Path of the member that is missing; null for another error. */
  readonly missing: string | null;

  constructor(message: string, missing: string | null = null) {
    super();
    this.message = message;
    this.missing = missing;
  }
}

/** A double whose value is whole; see `doubleValue`. */
export class CelDouble extends Boxed {
  readonly kind = 'double';
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

export class CelUint extends Boxed {
  readonly kind = 'uint';
  readonly value: bigint;

  constructor(value: bigint) {
    super();
    this.value = value;
  }
}

export class CelBytes extends Boxed {
  readonly kind = 'bytes';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }
}

/** A moment, by seconds since 1970 and nanoseconds from 0 to 999,999,999. */
export class CelTimestamp extends Boxed {
  readonly kind = 'timestamp';
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

/** A span of time in nanoseconds. */
export class CelDuration extends Boxed {
  readonly kind = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
}

/** An address: 32 or 128 bits. */
export class CelIp extends Boxed {
  readonly kind = 'ip';
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }
}

/** A network: the address as written, and the number of bits that all its addresses share. */
export class CelCidr extends Boxed {
  readonly kind = 'cidr';
  readonly ip: CelIp;
  readonly prefix: number;

  constructor(ip: CelIp, prefix: number) {
    super();
    this.ip = ip;
    this.prefix = prefix;
  }
}

/** A type as a value, as `type(x)` gives it. */
export class CelTypeValue extends Boxed {
  readonly kind = 'type';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** A map whose keys an expression wrote. Equal numbers are one key. */
export class CelMap extends Boxed {
  readonly kind = 'map';
  readonly entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>;

  constructor(entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>) {
    super();
    this.entries = entries;
  }
}

export type MapKey = string | number | bigint | boolean;

/** The key of a map that a value is; undefined if it cannot be one. Whole numbers are one key, whatever their kind. */
export function mapKeyOf(value: Value): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? value + 0 : undefined;
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return plainInt(value.value);
  if (value instanceof CelDouble && Number.isInteger(value.value)) return plainInt(BigInt(value.value));
  return undefined;
}

/** An integer as it is represented: a number if a double holds it. */
export function plainInt(value: bigint): number | bigint {
  return value >= -9_007_199_254_740_991n && value <= 9_007_199_254_740_991n ? Number(value) : value;
}

/** A double as it is represented: a number unless it is whole. */
export function doubleValue(value: number): number | CelDouble {
  return Number.isInteger(value) ? new CelDouble(value) : value;
}

export function kindOf(value: Value): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'double';
    case 'bigint':
      return 'int';
    default:
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'list';
      if (value instanceof Boxed) return value.kind;
      if (value instanceof Decimal) return value.isInteger ? 'int' : 'double';
      return 'map';
  }
}

/** Whether a value is an object of JSON. */
export function isJsonObject(value: Value): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Boxed) &&
    !Array.isArray(value) &&
    !(value instanceof Decimal)
  );
}

/** Names of types in CEL, by kind. */
export const TYPE_NAMES: Readonly<Record<ValueKind, string>> = {
  null: 'null_type',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  list: 'list',
  map: 'map',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  ip: 'net.IP',
  cidr: 'net.CIDR',
  type: 'type',
  fault: 'error',
};
