import {
  DATABASE_PART_NAMES,
  DATABASE_SECRET_NAMES,
  DATABASE_URL_NAMES,
  DEFAULT_DATABASE_URL,
} from '../../contract/config/config-database.js';
import { fileVariableOf } from '../../contract/config/secret-files.js';
import { SETTINGS } from '../../contract/config/settings.js';

/** The variables as a Markdown table, for docs/configuration.md. */
export function configurationTable(): string {
  const rows = SETTINGS.map(({ names, help, shownDefault, reader: { isSecret } }) => {
    const fallback = shownDefault === '' ? 'not set' : `\`${shownDefault}\``;
    const file = isSecret === true ? ` Or in a file: \`${fileVariableOf(names[0])}\`.` : '';
    return `| ${names.map((name) => `\`${name}\``).join(', ')} | ${fallback} | ${help}${file} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** Text of `--help`: usage and every variable. */
export function helpText(): string {
  const rows = SETTINGS.map(({ names, help, shownDefault, reader: { isSecret } }) => {
    const fallback = shownDefault === '' ? 'not set' : shownDefault;
    const file = isSecret === true ? ` Or in a file: ${fileVariableOf(names[0])}.` : '';
    return `  ${names.join(', ')}\n      ${help}${file} Default: ${fallback}.`;
  });
  return [
    'Control Enforcement Service',
    '',
    'Usage: npm start [-- --help | --version | migrate [--check] | rebuild-statistics | prune-events [--dry-run] |',
    '       after-restore | backup FILE | verify-audit [POSITION:HASH]]',
    '',
    'migrate applies missing migrations to the database, and ends; several processes may run it at once. With --check',
    'it only names them: exit code 0 if there are none, 3 if there are, 1 if the database cannot be used.',
    '',
    'rebuild-statistics compares the sums behind the statistics with the stored events, corrects what differs,',
    'and ends. It can run beside the service.',
    'prune-events deletes events older than SERVICE_EVENT_RETENTION_DAYS, and sums that no statistics read any more,',
    'as the service does by itself every minute; with --dry-run it only counts them.',
    '',
    'after-restore gives the database a revision that no client has seen, and ends: for a backup that was restored while',
    'no process of the service ran.',
    '',
    'backup copies the SQLite database to a new file, while the service runs and writes, checks the copy, and ends.',
    '',
    'verify-audit verifies the audit log and prints its last entry as POSITION:HASH; with one that was printed or logged',
    'before, also that this entry is still the same. It ends with 1 if the log is broken, naming the entry.',
    '',
    'Configuration is read from the environment and from a .env file in the working directory:',
    '',
    ...rows,
    `  ${DATABASE_URL_NAMES.join(', ')}`,
    `      Database: postgresql://… or file:… for SQLite. Default: ${DEFAULT_DATABASE_URL}.`,
    `  ${DATABASE_PART_NAMES.map((name) => `SERVICE_DB_${name}`).join(', ')}`,
    '      The parts of a PostgreSQL address, used when no URL is given (DB_… works as well).',
    `  ${DATABASE_SECRET_NAMES.map(fileVariableOf).join(', ')}`,
    '      Files with a database address or password, instead of the variable without _FILE.',
  ].join('\n');
}
