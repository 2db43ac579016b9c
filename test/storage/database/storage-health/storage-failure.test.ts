import { describe, expect, it } from 'vitest';
import { storageStateOf } from '../../../../src/storage/database/storage-health/storage-failure.js';
import { StorageError } from '../../../../src/storage/database/storage-health/storage-state.js';

const sqlite = (rawCode: number) => Object.assign(new Error('of SQLite'), { rawCode });
const adapter = (cause: object) => ({ code: 'P2010', meta: { driverAdapterError: { cause } } });

describe('the state of the storage', () => {
  it.each([
    // SQLite: FULL, READONLY and its extended codes, CORRUPT, CORRUPT_INDEX, NOTADB, short read, moved file.
    [sqlite(13), 'NOSPACE'],
    [sqlite(8), 'READONLY'],
    [sqlite(264), 'READONLY'],
    [sqlite(1032), 'REPLACED'],
    [sqlite(11), 'CORRUPT'],
    [sqlite(779), 'CORRUPT'],
    [sqlite(26), 'CORRUPT'],
    [sqlite(522), 'CORRUPT'],
    [sqlite(778), 'DOWN'],
    [sqlite(14), 'DOWN'],
    [adapter({ kind: 'sqlite', extendedCode: 13 }), 'NOSPACE'],
    // PostgreSQL, by the driver and through Prisma.
    [{ code: '53100' }, 'NOSPACE'],
    [{ code: '25006' }, 'READONLY'],
    [{ code: '42501' }, 'READONLY'],
    [{ code: 'XX001' }, 'CORRUPT'],
    [{ code: 'XX002' }, 'CORRUPT'],
    [{ code: '08006' }, 'DOWN'],
    [{ code: '57P01' }, 'DOWN'],
    [{ code: '57P03' }, 'DOWN'],
    [{ code: '53300' }, 'DOWN'],
    [adapter({ kind: 'postgres', code: '25006' }), 'READONLY'],
    [{ cause: { kind: 'DatabaseNotReachable' } }, 'DOWN'],
    [{ code: 'P1001' }, 'DOWN'],
    // The system.
    [{ code: 'ECONNREFUSED' }, 'DOWN'],
    [{ errors: [{ code: 'ECONNREFUSED' }, { code: 'ENETUNREACH' }] }, 'DOWN'],
    [{ code: 'ENOSPC' }, 'NOSPACE'],
    [{ code: 'EROFS' }, 'READONLY'],
    [new Error('Connection terminated unexpectedly'), 'DOWN'],
    // What is known already, however it is wrapped, and the more telling of two.
    [new Error('outer', { cause: new StorageError('REPLACED') }), 'REPLACED'],
    [new Error('Connection terminated', { cause: { code: '53100' } }), 'NOSPACE'],
  ])('%j is %s', (error, state) => {
    expect(storageStateOf(error)).toBe(state);
  });

  it.each([
    // BUSY and LOCKED, a constraint, time-outs, other transactions, a mistake of ours.
    sqlite(5),
    sqlite(6),
    sqlite(2067),
    { code: '57014' },
    { code: '55P03' },
    { code: '40001' },
    { code: '23505' },
    { code: '42P01' },
    { code: 'P2028' },
    new TypeError('x is not a function'),
    'a text',
    null,
  ])('is not found for %j', (error) => {
    expect(storageStateOf(error)).toBeNull();
  });

  it('is found in causes that form a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(storageStateOf(error)).toBeNull();
  });
});
