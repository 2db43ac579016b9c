/**
 * Checks whether the files of a SQLite database are still those that were opened, and whether they are
 * consistent with each other according to the file format of SQLite. Plain JavaScript, because it is also
 * used by the threads of the database, and Node 20 does not read TypeScript. Takes some microseconds.
 */
import { fstatSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';

/**
 * The opened files: the database, its write-ahead log (`-wal`), and the index of that in shared memory
 * (`-shm`); each with its path, its identity and a descriptor. Descriptors are shared by the whole process.
 * @typedef {{ path: string, identity: string, descriptor: number }} Opened
 * @typedef {{ database: Opened, log: Opened, index: Opened }} OpenedFiles
 *
 * A problem of the files. With `mayPass` it may be a state between two writes of another process; with
 * `isLogMissing` only the name of the log is gone.
 * @typedef {{ state: 'REPLACED' | 'CORRUPT', particular: string, mayPass: boolean, isLogMissing: boolean }} Finding
 */

const IS_LITTLE_ENDIAN = endianness() === 'LE';
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
/** Version for reading and for writing of a database in write-ahead logging. */
const WAL_VERSION = 2;
const DATABASE_HEADER_BYTES = 100;
const LOG_HEADER_BYTES = 32;
const INDEX_HEADER_BYTES = 96;
const FRAME_HEADER_BYTES = 24;
/** Number of checks of a log during concurrent writes. */
const LOG_ATTEMPTS = 20;

/**
 * Device and inode: identifies a file independent of its name.
 * @param {{ dev: bigint, ino: bigint }} stats
 */
export function identityOf({ dev, ino }) {
  return `${dev}:${ino}`;
}

/**
 * The identity of the file at a path; null when there is none.
 * @param {string} path
 */
export function identityAt(path) {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/**
 * Whether a file was deleted, moved away or replaced. SQLite must not open the database then: it would create
 * another file, or with a log of its own use the index of the opened one.
 * @param {OpenedFiles} files
 * @returns {Finding | null}
 */
export function movedFile({ database, log, index }) {
  const current = identityAt(database.path);
  if (current === null) return replaced('its file was deleted or moved away');
  if (current !== database.identity) return replaced('another file has taken the place of its file');
  if (identityAt(index.path) !== index.identity) {
    return replaced('the file -shm beside it was removed or replaced');
  }
  const currentLog = identityAt(log.path);
  if (currentLog === log.identity) return null;
  if (currentLog !== null) return replaced('the file -wal beside it was replaced');
  return { ...replaced('the file -wal beside it was removed'), isLogMissing: true };
}

/**
 * Creates the check. It returns null when stored data would survive a restart: the files are those that were
 * opened, and neither shorter than what was written nor overwritten at their beginning. Throws errors of the
 * system.
 * @param {OpenedFiles} files
 * @returns {() => Finding | null}
 */
export function createFileCheck(files) {
  const { database, log, index } = files;
  const header = Buffer.alloc(DATABASE_HEADER_BYTES);
  let largest = fstatSync(database.descriptor).size;

  /** @returns {Finding | null} */
  function databaseDamage() {
    const { size } = fstatSync(database.descriptor);
    if (size === 0) return damaged('its file was truncated');
    readSync(database.descriptor, header, 0, DATABASE_HEADER_BYTES, 0);
    const bytes = sizeByHeader(header);
    if (bytes === null) return damaged('the beginning of its file was overwritten');
    // Smaller than before and complete: vacuumed by another process.
    if (size < largest && size < bytes) return damaged('its file was truncated');
    largest = size;
    return null;
  }

  return () => {
    const moved = movedFile(files);
    // A log must not be copied into a damaged database.
    if (moved !== null && !moved.isLogMissing) return moved;
    return databaseDamage() ?? moved ?? logDamage(log.descriptor, index.descriptor);
  };
}

/**
 * @param {string} particular
 * @returns {Finding}
 */
function replaced(particular) {
  return { state: 'REPLACED', particular, mayPass: false, isLogMissing: false };
}

/**
 * @param {string} particular
 * @returns {Finding}
 */
function damaged(particular) {
  return { state: 'CORRUPT', particular, mayPass: true, isLogMissing: false };
}

/**
 * Size of a database in bytes according to its header; null when this is not the header of a database with a
 * log.
 * @param {Buffer} header
 */
function sizeByHeader(header) {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (header[18] !== WAL_VERSION || header[19] !== WAL_VERSION) return null;
  return header.readUInt32BE(28) * pageSize(header.readUInt16BE(16));
}

/**
 * SQLite writes to the log first and to its index last, and the other way round when it empties the log.
 * @param {number} log
 * @param {number} index
 * @returns {Finding | null}
 */
function logDamage(log, index) {
  for (let attempt = 1; attempt <= LOG_ATTEMPTS; attempt += 1) {
    const before = readStart(index, INDEX_HEADER_BYTES);
    const finding = logDamageBy(before, log);
    if (finding === null) return null;
    // Otherwise the log was written in between.
    if (before.equals(readStart(index, INDEX_HEADER_BYTES))) return finding;
  }
  // It is being written continuously. The next check may find a stable state.
  return null;
}

/**
 * @param {Buffer} indexHeader
 * @param {number} log
 * @returns {Finding | null}
 */
function logDamageBy(indexHeader, log) {
  const expected = readIndex(indexHeader);
  // Without the index the log cannot be checked. A restart creates a new one, so nothing is lost with it.
  if (expected === null || expected.frames === 0) return null;
  if (fstatSync(log).size < expected.bytes) return damaged('the file -wal beside it was truncated');
  const header = readStart(log, LOG_HEADER_BYTES);
  // The lowest bit is the byte order of its checksums.
  const magic = (header.readUInt32BE(0) & 0xffff_fffe) >>> 0;
  if (magic === 0x377f_0682 && header.subarray(16, 24).equals(expected.salt)) return null;
  return damaged('the file -wal beside it was overwritten');
}

/**
 * State of the log according to the index: its committed frames, its minimum size in bytes, and the salt that
 * is chosen at each restart of the log. Null while it is being written.
 * @param {Buffer} header
 */
function readIndex(header) {
  const first = header.subarray(0, 48);
  const isInitialised = first[12] !== 0;
  if (!isInitialised || !first.equals(header.subarray(48, 96))) return null;
  // It is shared memory, so its numbers are in native byte order.
  const frames = IS_LITTLE_ENDIAN ? first.readUInt32LE(16) : first.readUInt32BE(16);
  const pageBytes = pageSize(IS_LITTLE_ENDIAN ? first.readUInt16LE(14) : first.readUInt16BE(14));
  const bytes = LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
  return { frames, bytes, salt: first.subarray(32, 40) };
}

/**
 * 65,536 does not fit into two bytes and is stored as 1.
 * @param {number} stored
 */
function pageSize(stored) {
  return stored === 1 ? 65_536 : stored;
}

/**
 * @param {number} descriptor
 * @param {number} bytes
 */
function readStart(descriptor, bytes) {
  const buffer = Buffer.alloc(bytes);
  readSync(descriptor, buffer, 0, bytes, 0);
  return buffer;
}
