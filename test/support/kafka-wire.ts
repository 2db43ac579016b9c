/** Reads values of the Kafka protocol one after the other. */
export class KafkaReader {
  #at = 0;
  constructor(readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }
  int8 = () => this.bytes.readInt8(this.#skip(1));
  int16 = () => this.bytes.readInt16BE(this.#skip(2));
  int32 = () => this.bytes.readInt32BE(this.#skip(4));
  uint32 = () => this.bytes.readUInt32BE(this.#skip(4));
  int64 = () => this.bytes.readBigInt64BE(this.#skip(8));

  take(length: number): Buffer {
    const start = this.#skip(length);
    return this.bytes.subarray(start, start + length);
  }

  text(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.take(length).toString();
  }

  /** An unsigned number of variable length. */
  unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes.readUInt8(this.#skip(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** A signed number of variable length. */
  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  compactText(): string | null {
    const length = this.unsigned();
    return length === 0 ? null : this.take(length - 1).toString();
  }

  /** Bytes of a record. */
  field(): string {
    return this.take(Math.max(0, this.signed())).toString();
  }

  array<T>(one: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, one);
  }

  compactArray<T>(one: () => T): T[] {
    return Array.from({ length: Math.max(0, this.unsigned() - 1) }, one);
  }

  /** The end of a structure. */
  tags(): void {
    if (this.unsigned() !== 0) throw new Error('no tags are expected');
  }

  #skip(length: number): number {
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

const sized = (size: number, write: (buffer: Buffer) => void): Buffer => {
  const buffer = Buffer.alloc(size);
  write(buffer);
  return buffer;
};
export const int8 = (value: number) => sized(1, (buffer) => buffer.writeInt8(value));
export const int16 = (value: number) => sized(2, (buffer) => buffer.writeInt16BE(value));
export const int32 = (value: number) => sized(4, (buffer) => buffer.writeInt32BE(value));
export const int64 = (value: bigint) => sized(8, (buffer) => buffer.writeBigInt64BE(value));
/** Up to 127. */
export const small = (value: number) => Buffer.of(value);
export const text = (value: string) => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
export const compactText = (value: string) =>
  Buffer.concat([small(Buffer.byteLength(value) + 1), Buffer.from(value)]);
export const compactBytes = (value: Buffer) => Buffer.concat([small(value.length + 1), value]);
export const array = (items: readonly Buffer[]) => Buffer.concat([int32(items.length), ...items]);
export const compactArray = (items: readonly Buffer[]) => Buffer.concat([small(items.length + 1), ...items]);
export const NO_TEXT = small(0);
export const NO_TAGS = small(0);

/** A record of a batch. */
export interface KafkaRecord {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A batch of records of one producer. */
export interface KafkaBatch {
  readonly producerId: bigint;
  readonly baseSequence: number;
  readonly records: readonly KafkaRecord[];
}

const CRC32C = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value >>> 0;
});

function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC32C[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Reads a batch in the format of version 2, without compression, and checks its checksum. */
export function readBatch(bytes: Buffer): KafkaBatch {
  const reader = new KafkaReader(bytes);
  reader.int64();
  reader.int32();
  reader.int32();
  if (reader.int8() !== 2) throw new Error('not a batch of version 2');
  if (reader.uint32() !== crc32c(bytes.subarray(21))) throw new Error('the checksum of a batch is wrong');
  if (reader.int16() !== 0) throw new Error('no attributes are expected');
  reader.int32();
  reader.int64();
  reader.int64();
  const producerId = reader.int64();
  reader.int16();
  const baseSequence = reader.int32();
  const records = reader.array(() => {
    reader.signed();
    reader.int8();
    reader.signed();
    reader.signed();
    const key = reader.field();
    const value = reader.field();
    const headers: Record<string, string> = {};
    for (let left = reader.signed(); left > 0; left -= 1) headers[reader.field()] = reader.field();
    return { key, value, headers };
  });
  return { producerId, baseSequence, records };
}
