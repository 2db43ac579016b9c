/**
 * Writes the table of error reasons in `docs/api-guide.md`: causes and cures from the comments of the proto enum,
 * statuses from the error table. With `--check` it writes nothing and fails when the table is not current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './compose-schema.mjs';
import { readProto } from './proto-source.mjs';

const FILE = join(PACKAGE_ROOT, 'docs', 'api-guide.md');
const START = '<!-- error reasons: made by scripts/error-reasons.mjs -->\n';
const END = '<!-- end of error reasons -->';
const PREFIX = 'enforcement.v1.ErrorReason.ERROR_REASON_';
const ENTRY = /^ {2}([A-Z_]+): entry\((\d+), GrpcCode\.(\w+), /gm;

/** Statuses of the codes, in the order of the table. */
function statuses() {
  const source = readFileSync(join(PACKAGE_ROOT, 'src', 'contract', 'errors', 'error-table.ts'), 'utf8');
  const word = (name) => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return [...source.matchAll(ENTRY)].map(([, code, http, grpc]) => ({ code, http, grpc: word(grpc) }));
}

const { comments } = readProto();
const rows = statuses().map(({ code, http, grpc }) => {
  const [cause, cure] = (comments[PREFIX + code] ?? '').split(' Cure: ');
  if (cure === undefined) throw new Error(`the comment of ${PREFIX}${code} states no cure`);
  const sentence = cure.charAt(0).toUpperCase() + cure.slice(1);
  return `| \`${code}\` | ${http} | ${grpc} | ${cause} | ${sentence} |`;
});
const table = ['| Reason | HTTP | gRPC | Cause | Cure |', '| --- | --- | --- | --- | --- |', ...rows].join(
  '\n',
);

const text = readFileSync(FILE, 'utf8');
const from = text.indexOf(START);
const to = text.indexOf(END);
if (from === -1 || to < from) throw new Error(`${FILE} has no place for the error reasons`);
const current = `${text.slice(0, from + START.length)}\n${table}\n\n${text.slice(to)}`;
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, current);
} else if (text !== current) {
  process.stderr.write('docs/api-guide.md is not current: run "npm run generate"\n');
  process.exitCode = 1;
}
