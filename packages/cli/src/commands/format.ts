import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand, FILES } from '../command.js';
import { namesOf, readText, STDIN_PATH } from '../files/read-text.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement format controls', does: 'Write files in canonical form' },
    { line: 'control-enforcement format --check controls', does: 'Name those that are not, and end with 1' },
  ],
  positionals: FILES,
  options: { check: { type: 'boolean', default: false, describe: 'Write nothing' } },
  async run(context, { files, check }) {
    const { formattedText } = await import('../files/format-text.js');
    const changed: string[] = [];
    // All of them are read before any is written.
    const texts: { readonly name: string; readonly formatted: string }[] = [];
    for (const name of await namesOf(context.cwd, files)) {
      const { file, text } = await readText(context, name);
      const formatted = formattedText(file, text);
      if (name === STDIN_PATH && !check) await context.stdout.write(formatted);
      else if (formatted !== text) texts.push({ name, formatted });
    }
    for (const { name, formatted } of texts) {
      if (!check) await writeFile(path.resolve(context.cwd, name), formatted);
      changed.push(name);
    }
    if (check || changed.length > 0)
      await context.output({ changed }, changed.map((name) => `${name}\n`).join(''));
    return check && changed.length > 0 ? 1 : 0;
  },
});
