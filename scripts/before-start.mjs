/**
 * Builds before a start. A production installation (`npm ci --omit=dev`) has no compiler: it starts what was built
 * before, or ends with one line that says how to build it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Development packages that a build needs; the compiler alone may be there because of another package. */
const BUILDERS = ['typescript', 'vite'];

function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

if (BUILDERS.every(isInstalled)) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else if (!existsSync(join(ROOT, 'dist', 'src', 'main.js'))) {
  console.error(
    'The service is not built, and the packages that build it are not installed: run npm ci && npm run build, then npm ci --omit=dev && npm start.',
  );
  process.exitCode = 1;
}
