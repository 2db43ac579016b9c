/**
 * npm run drill -- sqlite | postgresql [SERVER_URL]: backs up a database of its own under load, destroys it, restores it
 * and checks that nothing acknowledged before the backup is lost. With the address of a PostgreSQL server it makes its
 * database there and uses pg_dump and pg_restore of the PATH; without one it starts a server and copies its files.
 * Touches no other database. Ends with 1 if there is a problem; `npm run build` must have run.
 */
import path from 'node:path';
import { runDrill } from './drill/drill.mjs';
import { openPostgresDumpStore } from './drill/postgres-dump-store.mjs';
import { openPostgresFilesStore } from './drill/postgres-files-store.mjs';
import { openSqliteStore } from './drill/sqlite-store.mjs';

const [kind, serverUrl, ...others] = process.argv.slice(2);
const postgres =
  serverUrl === undefined ? openPostgresFilesStore : (folder) => openPostgresDumpStore(folder, serverUrl);
const open = { sqlite: openSqliteStore, postgresql: postgres }[kind ?? ''];
if (open === undefined || others.length > 0 || (kind === 'sqlite' && serverUrl !== undefined)) {
  process.stderr.write('Usage: npm run drill -- sqlite | postgresql [SERVER_URL]\n');
  process.exit(2);
}
const main = path.join(import.meta.dirname, '..', 'dist', 'src', 'main.js');
const report = await runDrill({ main, open });
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
