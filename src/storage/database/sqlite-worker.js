/**
 * A thread with one connection to a SQLite file. It runs received statements in order. Plain JavaScript,
 * because a thread starts from a file and Node 20 does not read TypeScript; it is independent of what it
 * runs.
 */
import { parentPort, workerData } from 'node:worker_threads';
import Libsql from 'libsql';
import { runInBackground } from '../../contract/runtime/background-thread.js';
import { createFileCheck, movedFile } from './storage-health/file-check.js';

/**
 * @typedef {null | string | number | bigint} Value
 * @typedef {{ sql: string, args: readonly Value[] }} Statement
 * @typedef {{ rows: Value[][], changes: number }} Result
 * With `files`, the thread opens only those, and checks them before each transaction and after each commit.
 * With `isBackground`, it is less urgent than the thread that evaluates.
 * @typedef {{ path: string, busyTimeoutMs: number, pragmas: readonly string[], files?: OpenedFiles,
 *   isBackground?: boolean }} ConnectionOptions
 * @typedef {import('./storage-health/file-check.js').OpenedFiles} OpenedFiles
 * @typedef {{ id: number, transaction: '' | 'BEGIN' | 'OPEN', statements: readonly Statement[],
 *   end: '' | 'COMMIT' | 'ROLLBACK', isGuarded?: boolean }} Request
 * If a request is guarded, and its first statement returns no row, the transaction is undone, and nothing else is run.
 * @typedef {{ message: string, code?: string | undefined, rawCode?: number | undefined,
 *   storage?: 'REPLACED' | 'CORRUPT' | undefined }} Failure
 * @typedef {{ id: number, results: Result[] } | { id: number, failure: Failure }} Reply
 */

/** Number of cached prepared statements. Their texts differ only by the filters of a search. */
const MAX_STATEMENTS = 100;

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');

/** @type {ConnectionOptions} */
const { path, busyTimeoutMs, pragmas, files, isBackground } = workerData;
if (isBackground === true) runInBackground();

/** Checks of files that seem damaged: another process may be writing them. */
const ATTEMPTS = 5;
const PAUSE_MS = 5;
const pause = new Int32Array(new SharedArrayBuffer(4));

const moved = () => (files === undefined ? null : movedFile(files));

/** Opening would create a missing file, and the file may be replaced while it is opened. */
const movedBefore = moved();
const database = new Libsql(movedBefore === null ? path : ':memory:', { timeout: busyTimeoutMs });
const obstacle = movedBefore ?? moved();
const check = files === undefined || obstacle !== null ? () => null : createFileCheck(files);

for (const pragma of pragmas) database.exec(`PRAGMA ${pragma}`);

/** @type {Map<string, Libsql.Statement>} */
const prepared = new Map();

/** @param {string} sql */
function prepare(sql) {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  if (prepared.size >= MAX_STATEMENTS) prepared.clear();
  const statement = database.prepare(sql).safeIntegers(true);
  if (statement.reader) statement.raw(true);
  prepared.set(sql, statement);
  return statement;
}

/**
 * @param {Statement} statement
 * @returns {Result}
 */
function run({ sql, args }) {
  const statement = prepare(sql);
  if (!statement.reader) return { rows: [], changes: Number(statement.run(args).changes) };
  return { rows: /** @type {Value[][]} */ (statement.all(args)), changes: 0 };
}

/** Throws when stored data would not survive a restart. */
function verify() {
  for (let attempt = 1; ; attempt += 1) {
    const finding = check();
    if (finding === null) return;
    if (attempt >= ATTEMPTS || !finding.mayPass) {
      const { state, particular } = finding;
      throw Object.assign(new Error(particular), { storage: state });
    }
    Atomics.wait(pause, 0, 0, PAUSE_MS);
  }
}

/**
 * Statements of a transaction that has ended must not be committed one by one.
 * @param {Request} request
 * @returns {Result[]}
 */
function answer({ transaction, statements, end, isGuarded = false }) {
  try {
    if (transaction === 'BEGIN') {
      verify();
      if (database.inTransaction) database.exec('ROLLBACK');
      database.exec('BEGIN IMMEDIATE');
    }
    if (transaction === 'OPEN' && end !== 'ROLLBACK' && !database.inTransaction) {
      throw new Error('the transaction has ended');
    }
    /** @type {Result[]} */
    const results = [];
    for (const statement of statements) {
      const result = run(statement);
      results.push(result);
      if (!isGuarded || results.length > 1 || result.rows.length > 0) continue;
      database.exec('ROLLBACK');
      return results;
    }
    if (end !== '' && (end === 'COMMIT' || database.inTransaction)) database.exec(end);
    if (end === 'COMMIT') verify();
    return results;
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

port.on('message', (/** @type {Request | 'close'} */ message) => {
  if (message === 'close') {
    prepared.clear();
    database.close();
    port.close();
    return;
  }
  if (obstacle !== null) {
    /** @type {Failure} */
    const failure = { message: obstacle.particular, storage: obstacle.state };
    port.postMessage({ id: message.id, failure });
    // The next thread finds the file again if it is restored.
    database.close();
    port.close();
    return;
  }
  /** @type {Reply} */
  let reply;
  try {
    reply = { id: message.id, results: answer(message) };
  } catch (error) {
    const { message: text, code, rawCode, storage } = /** @type {Failure} */ (error);
    reply = { id: message.id, failure: { message: text, code, rawCode, storage } };
  }
  port.postMessage(reply);
});
