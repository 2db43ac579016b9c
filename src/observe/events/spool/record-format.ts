import { crc32 } from 'node:zlib';

/** Length and checksum before each record. */
const HEADER_OCTETS = 8;

/** A record as it is in a file. */
export function frame(record: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUInt32LE(record.length, 0);
  header.writeUInt32LE(crc32(record), 4);
  return Buffer.concat([header, record]);
}

/** The records of a part of a file, and where the part after them begins. */
export interface ReadRecords {
  readonly records: readonly Buffer[];
  readonly end: number;
}

/**
 * Reads whole records, from an offset up to the first one that is incomplete or damaged; at most as many as fit into a
 * number of octets, but one in any case.
 */
export function readRecords(file: Buffer, from: number, maxOctets = Number.POSITIVE_INFINITY): ReadRecords {
  const records: Buffer[] = [];
  let at = from;
  while (at + HEADER_OCTETS <= file.length) {
    const length = file.readUInt32LE(at);
    const end = at + HEADER_OCTETS + length;
    if (end > file.length || (records.length > 0 && end - from > maxOctets)) break;
    const record = file.subarray(at + HEADER_OCTETS, end);
    if (crc32(record) !== file.readUInt32LE(at + 4)) break;
    records.push(record);
    at = end;
  }
  return { records, end: at };
}
