/**
 * Writes the comments of the proto files to `gen/openapi/comments.json`, from where the OpenAPI document takes its
 * descriptions: the generated code keeps none. With `--check` it writes nothing and fails when the file is not current.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from './compose-schema.mjs';
import { readProto } from './proto-source.mjs';

const file = join(PACKAGE_ROOT, 'gen', 'openapi', 'comments.json');
const current = `${JSON.stringify(readProto().comments, null, 2)}\n`;

if (!process.argv.includes('--check')) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, current);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== current) {
  process.stderr.write('gen/openapi/comments.json is not current: run "npm run generate"\n');
  process.exitCode = 1;
}
