import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';

function refusal(url: string): string {
  try {
    parseDatabaseUrl(url);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error(`${url} was accepted`);
}

describe('the database URL', () => {
  it.each([
    ['file:./data/service.db', './data/service.db'],
    ['file:/var/lib/service.db', '/var/lib/service.db'],
    ['file:///var/lib/service.db', '/var/lib/service.db'],
    ['./data/service.db', './data/service.db'],
    ['/var/lib/service.db', '/var/lib/service.db'],
    ['service.db', 'service.db'],
    ['sqlite:./service.db', './service.db'],
    ['sqlite:///service.db', 'service.db'],
    ['sqlite:////var/lib/service.db', '/var/lib/service.db'],
    ['sqlite+aiosqlite:///./service.db', './service.db'],
    ['sqlite+aiosqlite:////var/lib/service.db', '/var/lib/service.db'],
    ['  file:./service.db\n', './service.db'],
  ])('reads %j as a SQLite file', (url, path) => {
    expect(parseDatabaseUrl(url)).toEqual({ kind: 'sqlite', path });
  });

  it.each([
    'postgres://user:word@host:5432/db',
    'postgresql://user:word@host:5432/db',
    'postgresql+psycopg://user:word@host:5432/db',
    'POSTGRESQL+asyncpg://user:word@host:5432/db',
  ])('reads %j as PostgreSQL', (url) => {
    const connectionString = 'postgresql://user:word@host:5432/db';
    expect(parseDatabaseUrl(url)).toEqual({ kind: 'postgresql', connectionString });
  });

  it.each([
    ['mysql://root:hunter2@host/db', '"mysql:"'],
    ['libsql://hunter2.example.com', '"libsql:"'],
    ['postgresql:hunter2', '"postgresql:"'],
    ['postgresql://user:hunter2%zz@host/db', '%-encoded'],
    ['postgresql://user:hunter2@host:notaport/db', 'well-formed'],
    ['postgresql://user:hunter2@host/db?schema=other', '"schema"'],
    ['sqlite://host/hunter2.db', 'not by a host'],
    ['file:service.db?mode=hunter2', 'parameters'],
    [':memory:', 'in-memory'],
    ['sqlite::memory:', 'in-memory'],
    ['file:', 'no database'],
    ['', 'no database'],
    ['./data/', 'folder'],
  ])('refuses %j, names the problem and keeps the secret', (url, problem) => {
    expect(refusal(url)).toContain(problem);
    expect(refusal(url)).not.toContain('hunter2');
  });
});
