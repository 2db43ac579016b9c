/** The oldest Node.js that works: major and minor version, as `engines` in package.json. */
const [OLDEST_MAJOR, OLDEST_MINOR] = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST_MAJOR || (major === OLDEST_MAJOR && minor < OLDEST_MINOR)) {
  console.error(
    `The service needs Node.js ${OLDEST_MAJOR}.${OLDEST_MINOR} or later, and this is ${process.versions.node}: install a later one, or run the image.`,
  );
  process.exit(1);
}
