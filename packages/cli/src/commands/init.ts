import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';

const CONTROL = `# Denies tool calls whose text has a card number.
kind: Control
name: no-card-numbers
data:
  description: Card numbers stay inside
  execution: server
  scope:
    step_types: [ tool ]
    stages: [ pre ]
  condition:
    selector:
      path: input
    evaluator:
      name: regex
      config:
        pattern: \\b\\d{16}\\b
  action:
    decision: deny
---
kind: Policy
name: baseline
every_agent: true
controls:
  - no-card-numbers
`;

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement init my-controls', does: 'Make a folder with a control and a policy' },
  ],
  positionals: { folder: { type: 'string', default: 'controls', describe: 'The folder' } },
  async run(context, { folder }) {
    const file = path.join(folder, 'baseline.yaml');
    await mkdir(path.resolve(context.cwd, folder), { recursive: true });
    try {
      await writeFile(path.resolve(context.cwd, file), CONTROL, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new CliError(`${file} exists already`, 'Name another folder.');
    }
    await context.output({ file }, `Made ${file}. Next: control-enforcement validate ${folder}\n`);
    return 0;
  },
});
