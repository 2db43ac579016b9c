/** Ends with one line instead of the errors that an older Node.js gives in the middle of an installation or a build. */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [oldestMajor, oldestMinor] = engines.node.replace('>=', '').split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  console.error(
    `The service needs Node.js ${oldestMajor}.${oldestMinor} or later, and this is ${process.versions.node}: install a later one, or run the image.`,
  );
  process.exit(1);
}
