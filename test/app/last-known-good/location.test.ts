import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { fileLocation } from '../../../src/app/last-known-good/location.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';

const place = (setting: string | null, url: string) => fileLocation(setting, parseDatabaseUrl(url));

it('the file lies beside the SQLite file, and belongs to it', () => {
  expect(place(null, 'file:/var/lib/service.db')).toEqual({
    path: '/var/lib/service.db.last-known-good',
    isCertain: true,
  });
});

it('the file is where it is configured to be, and belongs to the database', () => {
  for (const url of ['file:/var/lib/service.db', 'postgresql://a:b@localhost/c']) {
    expect(place('kept/state', url)).toEqual({ path: resolve('kept/state'), isCertain: true });
  }
});

it('there is none when it is switched off', () => {
  expect(place('off', 'file:/var/lib/service.db')).toBeNull();
});

it('each PostgreSQL database has a file of its own in the data folder, whatever the user of the connection', () => {
  const path = (url: string) => {
    const found = place(null, url);
    expect(found).toMatchObject({ isCertain: false });
    expect(found?.path).toMatch(new RegExp(`^${resolve('data/last-known-good-')}[0-9a-f]{12}$`));
    return found?.path;
  };
  const same = [
    'postgresql://a:b@localhost:5432/c',
    'postgres://other:secret@localhost/c',
    'postgresql+psycopg://localhost/c?sslmode=require',
    'postgresql://ignored/c?host=localhost',
  ];
  expect(new Set(same.map(path)).size).toBe(1);
  const others = [
    'postgresql://localhost/d',
    'postgresql://localhost:5433/c',
    'postgresql://elsewhere/c',
    'postgresql:///c?host=/var/run/postgresql',
  ];
  expect(new Set([...same, ...others].map(path)).size).toBe(1 + others.length);
});
