import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

export const PYTHON_CLIENT = path.resolve(import.meta.dirname, '../../clients/python');

/**
 * The one that TEST_PYTHON names, or the system's own, which Debian's packages are for, or another one. Undefined if none has
 * gRPC.
 */
export const PYTHON = [process.env.TEST_PYTHON ?? '/usr/bin/python3', 'python3'].find(
  (one) => spawnSync(one, ['-c', 'import grpc, google.protobuf']).status === 0,
);
/** What a test is called that does not run. */
export const NO_PYTHON =
  'are not run, because Python has no gRPC here (Debian: apt-get install python3-grpcio python3-protobuf)';

/** Runs Python with the client, and returns what it prints. */
export async function runPython(
  words: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<{ code: number; output: string; errors: string }> {
  const child = spawn(PYTHON ?? '', words, {
    cwd: path.join(PYTHON_CLIENT, 'tests'),
    env: {
      ...process.env,
      PYTHONPATH: path.join(PYTHON_CLIENT, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'default',
      ...env,
    },
  });
  child.stdin.end(input);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, output, errors };
}
