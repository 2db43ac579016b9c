import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';

const CONTROLS = `# Denies tool calls whose input has a card number.
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

const SUITE = `# control-enforcement test runs these cases without a server.
kind: Suite
name: baseline
controls: [ baseline.yaml ]
fixtures:
  steps:
    mail: { type: tool, name: send_mail, input: { text: Hello } }
cases:
  - name: a card number is denied
    step: { from: mail, input: { text: My card is 4111111111111111 } }
    expect: { outcome: deny, controls: [ no-card-numbers ] }
  - name: other texts pass
    step: mail
    expect: { outcome: allow, controls: [] }
`;

/** What the folder gets, by name. */
const FILES: { readonly [name: string]: string } = {
  'baseline.yaml': CONTROLS,
  'baseline.test.yaml': SUITE,
};

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement init my-controls',
      does: 'Make a folder with a control, a policy and their tests',
    },
  ],
  positionals: { folder: { type: 'string', default: 'controls', describe: 'The folder' } },
  async run(context, { folder }) {
    const files: string[] = [];
    await mkdir(path.resolve(context.cwd, folder), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) {
      const file = path.join(folder, name);
      try {
        await writeFile(path.resolve(context.cwd, file), text, { flag: 'wx' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        throw new CliError(`${file} exists already`, 'Name another folder.');
      }
      files.push(file);
    }
    const next = ['validate', 'lint', 'test'].map((word) => `  control-enforcement ${word} ${folder}\n`);
    await context.output({ files }, `Made ${files.join(' and ')}. Next:\n${next.join('')}`);
    return 0;
  },
});
