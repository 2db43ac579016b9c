/**
 * Migrations of the last release. Databases have them, so they must stay as they are, and later ones must leave its
 * programs working. `node scripts/landed-migrations.mjs` takes the present ones; part of `npm run landed`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT, PROVIDERS } from './compose-schema.mjs';

const FILE = join(PACKAGE_ROOT, 'prisma', 'landed.json');

/**
 * A module of the built service, which reads migrations, and judges by the same rules what it notes with an applied one.
 * @param {'migration-files' | 'migration-rules'} name
 */
function databaseModule(name) {
  const file = join(PACKAGE_ROOT, 'dist', 'src', 'storage', 'database', `${name}.js`);
  if (!existsSync(file)) throw new Error('the service is not built: run npm run build');
  return import(String(pathToFileURL(file)));
}

/**
 * What is wrong with migrations, as lines of text: landed ones that were changed, and later ones that break programs of
 * the last release without saying so.
 * @param {{ name: string, sql: string, checksum: string }[]} migrations
 * @param {Record<string, string>} landed checksums by name
 * @param {Pick<typeof import('../src/storage/database/migration-rules.js'), 'exclusionOf' | 'nonAdditive'>} rules
 */
export function migrationProblems(migrations, landed, { exclusionOf, nonAdditive }) {
  const names = new Set(migrations.map(({ name }) => name));
  const missing = Object.keys(landed).filter((name) => !names.has(name));
  const latestLanded = Object.keys(landed).sort().at(-1) ?? '';
  return [
    ...missing.map((name) => `${name}: it was released and cannot be removed`),
    ...migrations.flatMap(({ name, sql, checksum }) => {
      if (name in landed) {
        return landed[name] === checksum ? [] : [`${name}: it was released and cannot be changed`];
      }
      if (name < latestLanded) return [`${name}: it must sort after ${latestLanded}, which was released`];
      const exclusion = exclusionOf(sql);
      if (exclusion === null) return nonAdditive(sql).map((problem) => `${name}: ${problem}`);
      const { before } = exclusion;
      return names.has(before) && before <= name ? [] : [`${name}: there is no earlier migration ${before}`];
    }),
  ];
}

/** Checks the migrations of both databases; prints problems, and the releases that are knowingly excluded. */
export async function checkCompatibility() {
  const rules = await databaseModule('migration-rules');
  const { readMigrations } = await databaseModule('migration-files');
  const { version, migrations: landed } = JSON.parse(readFileSync(FILE, 'utf8'));
  const problems = PROVIDERS.flatMap((provider) => {
    const migrations = readMigrations(provider);
    const latestLanded = Object.keys(landed[provider]).sort().at(-1) ?? '';
    for (const { name, sql } of migrations) {
      const exclusion = rules.exclusionOf(sql);
      if (exclusion === null || exclusion.before <= latestLanded) continue;
      process.stdout.write(`${provider} ${name} excludes programs of ${version}: ${exclusion.reason}\n`);
    }
    return migrationProblems(migrations, landed[provider], rules).map((line) => `${provider} ${line}`);
  });
  if (problems.length === 0) return true;
  process.stderr.write(
    `Programs of ${version} cannot run beside these migrations:\n  ${problems.join('\n  ')}\n`,
  );
  process.stderr.write('Only add to the structure, or state who is excluded: see docs/upgrades.md.\n');
  return false;
}

async function land() {
  const { readMigrations } = await databaseModule('migration-files');
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  const checksums = (provider) =>
    Object.fromEntries(readMigrations(provider).map(({ name, checksum }) => [name, checksum]));
  const migrations = Object.fromEntries(PROVIDERS.map((provider) => [provider, checksums(provider)]));
  writeFileSync(FILE, `${JSON.stringify({ version, migrations }, null, 2)}\n`);
}

if (import.meta.filename === process.argv[1]) await land();
