import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ErrorReason, ErrorReasonSchema } from '../../../gen/proto/enforcement/v1/error_reason_pb.js';
import { ERROR_TABLE } from '../../../src/contract/errors/error-table.js';
import { FEATURES } from '../../../src/observe/server-info/features.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const GUIDE = readFileSync(path.join(ROOT, 'docs/api-guide.md'), 'utf8');
const TABLE = GUIDE.slice(GUIDE.indexOf('<!-- error reasons'));
const COMMENTS: Record<string, string> = JSON.parse(
  readFileSync(path.join(ROOT, 'gen/openapi/comments.json'), 'utf8'),
);

const names = ErrorReasonSchema.values
  .filter(({ number }) => number !== ErrorReason.UNSPECIFIED)
  .map(({ name }) => name.replace(/^ERROR_REASON_/, ''));

it('the enum of reasons names every error code, and nothing else', () => {
  expect(names.toSorted()).toEqual(Object.keys(ERROR_TABLE).toSorted());
});

it('every reason states a cause and a cure', () => {
  for (const name of names) {
    const comment = COMMENTS[`enforcement.v1.ErrorReason.ERROR_REASON_${name}`];
    expect(comment, name).toMatch(/^[A-Z].*\. Cure: [a-z].*\.$/);
  }
});

it('the guide of the API describes every feature of the server', () => {
  for (const feature of FEATURES) expect(GUIDE).toContain(`| \`${feature}\` | `);
});

it('the guide of the API lists every reason with its statuses, cause and cure', () => {
  for (const name of names) {
    const { httpStatus, title } = ERROR_TABLE[name as keyof typeof ERROR_TABLE];
    const row = TABLE.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
    expect(row, `${name}: ${title}`).toMatch(new RegExp(`\\| ${httpStatus} \\| [A-Z_]+ \\| .+ \\| .+ \\|$`));
  }
});
