import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Builds the optional packages: the service under test loads them as it does when they are installed. */
export default async function setup(): Promise<void> {
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = path.join(ROOT, 'packages', 'evaluator-vendor-model');
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--noCheck']);
}
