import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LINT_RULES } from '../../../src/manage/lint/lint-rules.js';
import { folderWith, runCli } from '../../support/cli.js';
import { found, registered, type TestAgent, yamlDocuments } from './support.js';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/lint.md'), 'utf8');
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [id = '', ...lines] = section.split('\n');
    const text = lines.join('\n');
    const block = (info: string) => new RegExp(`^\`\`\`${info}\n([^]*?)^\`\`\``, 'm').exec(text)?.[1] ?? '';
    return { id, text, bad: block('yaml bad'), good: block('yaml good'), agents: block('json agents') };
  });
/** Rules about comments in files are those of the command; one has no example. */
const OF_COMMENTS = new Set(['invalid-disable-comment', 'unused-disable-comment']);
const examples = sections.filter(({ id }) => !OF_COMMENTS.has(id) && id !== 'incomplete-lint');

/** The rules that the command finds in a file. */
async function ofCommand(text: string): Promise<string[]> {
  const cwd = folderWith({ 'a.yaml': text });
  const { stdout } = await runCli(['lint', 'a.yaml', '--output', 'json'], { cwd });
  return (JSON.parse(stdout) as { rule: string }[]).map(({ rule }) => rule);
}

describe('the page of the rules of lint', () => {
  it('has a section for each rule, in order, with its severity', () => {
    expect(sections.map(({ id, text }) => [id, /^Severity: (\w+)\.$/m.exec(text)?.[1]])).toEqual(
      Object.entries(LINT_RULES),
    );
  });

  it('has both a bad and a good example for each rule, but that about lint that is incomplete', () => {
    const without = sections.filter(({ bad, good }) => bad.trim() === '' || good.trim() === '');
    expect(without.map(({ id }) => id)).toEqual(['incomplete-lint']);
  });

  it.each(examples)('has examples of $id that lint judges as it says', async ({ id, bad, good, agents }) => {
    const facts = agents === '' ? {} : registered(...(JSON.parse(agents) as TestAgent[]));
    const rules = async (text: string) => {
      const all = await found(yamlDocuments(text), facts);
      return new Set(all.map((one) => one.split(' ')[0]));
    };
    expect(await rules(bad)).toContain(id);
    expect(await rules(good)).toEqual(new Set());
  });

  it.each(sections.filter(({ id }) => OF_COMMENTS.has(id)))(
    'has examples of $id that the command judges as it says',
    async ({ id, bad, good }) => {
      expect(await ofCommand(bad)).toContain(id);
      expect(await ofCommand(good)).toEqual([]);
    },
  );
});
