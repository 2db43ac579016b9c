/**
 * Prints the line of a command in a code block of the README that ends with a text, as a newcomer copies it.
 * Usage: node .ci/readme-command.mjs 'npm test'
 */
import { readFileSync } from 'node:fs';

const [end = ''] = process.argv.slice(2);
const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
const found = blocks.flatMap(([, block]) => block.trim().split('\n')).filter((line) => line.endsWith(end));
if (found.length !== 1)
  throw new Error(`README.md has ${found.length} commands that end with "${end}", not one`);
console.log(found[0]);
