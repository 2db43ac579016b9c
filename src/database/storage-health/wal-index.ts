/**
 * The parts of SQLite's files that tell whether they belong together, as the file format documents them: the header of
 * the database, that of the write-ahead log (`-wal`), and that of its index in shared memory (`-shm`).
 */
import { endianness } from 'node:os';

/** Bytes to read of each file. */
export const DATABASE_HEADER_BYTES = 100;
export const WAL_HEADER_BYTES = 32;
export const WAL_INDEX_HEADER_BYTES = 96;

const IS_LITTLE_ENDIAN = endianness() === 'LE';
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
/** Version for reading and for writing of a database that is in write-ahead logging. */
const WAL_VERSION = 2;
const WAL_FRAME_HEADER_BYTES = 24;

/** Size of a database in bytes as its header tells it; null when the bytes are no header of a database with a log. */
export function sizeByHeader(header: Buffer): bigint | null {
  if (header.length < DATABASE_HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (header[18] !== WAL_VERSION || header[19] !== WAL_VERSION) return null;
  return BigInt(header.readUInt32BE(28)) * BigInt(pageSize(header.readUInt16BE(16)));
}

/** What the index says about the log. */
export interface WalIndex {
  /** Frames of the log that are committed. */
  readonly frames: number;
  /** Bytes that the log has at least. */
  readonly bytes: bigint;
  /** Chosen anew each time the log is begun again. */
  readonly salt: Buffer;
}

/** Reads the header of the index; null when it is being written, or was not yet. */
export function readWalIndex(header: Buffer): WalIndex | null {
  if (header.length < WAL_INDEX_HEADER_BYTES) return null;
  const [first, second] = [header.subarray(0, 48), header.subarray(48, 96)];
  const isInitialised = first[12] !== 0;
  if (!isInitialised || !first.equals(second)) return null;
  // It is shared memory, so its numbers are in the order of the machine.
  const frames = IS_LITTLE_ENDIAN ? first.readUInt32LE(16) : first.readUInt32BE(16);
  const pageBytes = pageSize(IS_LITTLE_ENDIAN ? first.readUInt16LE(14) : first.readUInt16BE(14));
  const frameBytes = WAL_FRAME_HEADER_BYTES + pageBytes;
  const bytes = BigInt(WAL_HEADER_BYTES) + BigInt(frames) * BigInt(frameBytes);
  return { frames, bytes, salt: Buffer.from(first.subarray(32, 40)) };
}

/** Whether a log begins as the index says it does. */
export function beginsAsIndexed(walHeader: Buffer, { salt }: WalIndex): boolean {
  if (walHeader.length < WAL_HEADER_BYTES) return false;
  // The lowest bit tells the order of bytes in its checksums.
  const magic = (walHeader.readUInt32BE(0) & 0xffff_fffe) >>> 0;
  return magic === 0x377f_0682 && walHeader.subarray(16, 24).equals(salt);
}

/** 65,536 does not fit into two bytes and is written as 1. */
function pageSize(stored: number): number {
  return stored === 1 ? 65_536 : stored;
}
