#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';

// Compiled code is kept from one start to the next, where this version of Node.js can.
module.enableCompileCache?.();
const entry = new URL('../dist/main.js', import.meta.url);
if (existsSync(entry)) await import(entry.href);
else {
  process.stderr.write(
    'control-enforcement: the command is not built; run npm run build in the repository\n',
  );
  process.exitCode = 1;
}
