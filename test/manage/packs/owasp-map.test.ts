import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import type { PackControl } from '../../../src/manage/packs/pack.js';
import { readPackFolder } from '../../../src/manage/packs/pack-folder.js';
import { serviceEvaluators } from '../../support/evaluators.js';

const PAGE = readFileSync(findUp('docs/owasp-map.md'), 'utf8');
const FOLDER = path.join(path.dirname(findUp('package.json')), 'packs');
const registry = createRegistry([...serviceEvaluators]);

/** The entries as they were published. */
const LISTS = {
  'owasp-llm-top-10': [
    'LLM01:2025 Prompt Injection',
    'LLM02:2025 Sensitive Information Disclosure',
    'LLM03:2025 Supply Chain',
    'LLM04:2025 Data and Model Poisoning',
    'LLM05:2025 Improper Output Handling',
    'LLM06:2025 Excessive Agency',
    'LLM07:2025 System Prompt Leakage',
    'LLM08:2025 Vector and Embedding Weaknesses',
    'LLM09:2025 Misinformation',
    'LLM10:2025 Unbounded Consumption',
  ],
  'owasp-agentic-top-10': [
    'ASI01 Agent Goal Hijack',
    'ASI02 Tool Misuse and Exploitation',
    'ASI03 Identity and Privilege Abuse',
    'ASI04 Agentic Supply Chain Vulnerabilities',
    'ASI05 Unexpected Code Execution (RCE)',
    'ASI06 Memory & Context Poisoning',
    'ASI07 Insecure Inter-Agent Communication',
    'ASI08 Cascading Failures',
    'ASI09 Human-Agent Trust Exploitation',
    'ASI10 Rogue Agents',
  ],
} as const;
/** Where the controls that are also those of a pack for one purpose come from, by the key without its entry. */
const PURPOSES = [
  'exfiltration',
  'money',
  'personal-data',
  'prompt-injection',
  'read-only-sql',
  'secrets',
  'shell-safety',
];

interface Row {
  readonly entry: string;
  readonly keys: readonly string[];
  readonly rest: string;
}

/** The rows of the tables of the page. */
const rows: readonly Row[] = PAGE.split('\n')
  .filter((line) => /^\| (?:LLM|ASI)\d\d/.test(line))
  .map((line) => {
    const [, entry = '', controls = '', rest = ''] = line.split('|').map((cell) => cell.trim());
    return { entry, keys: [...controls.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key), rest };
  });

const read = async (name: string): Promise<readonly PackControl[]> =>
  (await readPackFolder(path.join(FOLDER, name), registry, true)).controls;
const withoutEntry = (key: string): string => key.replace(/^(?:llm|asi)\d\d-/, '');

it('lists the entries of both lists by their published names, in their order', () => {
  expect(rows.map(({ entry }) => entry)).toEqual(Object.values(LISTS).flat());
});

it('says for each entry what no control checks', () => {
  expect(rows.filter(({ rest }) => rest.length < 20)).toEqual([]);
});

describe.each(Object.entries(LISTS))('the pack %s', (pack, entries) => {
  it('has the controls of the page, each for the entry that its key and title name', async () => {
    const listed = rows.filter(({ entry }) => entries.some((one) => one === entry));
    const controls = await read(pack);
    expect(controls.map(({ key }) => key).sort()).toEqual(listed.flatMap(({ keys }) => keys).sort());
    for (const { entry, keys } of listed) {
      const number = entry.slice(0, 5).toLowerCase();
      for (const key of keys) {
        expect(key.startsWith(`${number}-`), key).toBe(true);
        const control = controls.find((one) => one.key === key);
        expect(control?.title.startsWith(`${entry}: `), key).toBe(true);
        expect(control?.references.join(' '), key).toContain('genai.owasp.org');
      }
    }
  });
});

it('repeats controls of other packs without a difference but their names, titles, references and tags', async () => {
  const sources = new Map<string, PackControl>();
  for (const pack of PURPOSES) for (const control of await read(pack)) sources.set(control.key, control);
  const llm = await read('owasp-llm-top-10');
  const agentic = await read('owasp-agentic-top-10');
  const ownOfLlm = llm.filter(({ key }) => !sources.has(withoutEntry(key)));
  for (const control of ownOfLlm) sources.set(withoutEntry(control.key), control);
  const ownOfAgentic = agentic.filter(({ key }) => !sources.has(withoutEntry(key)));

  expect(ownOfLlm).toHaveLength(4);
  expect(ownOfAgentic).toHaveLength(3);
  for (const { key, reason, cases, definition } of [...llm, ...agentic]) {
    const source = sources.get(withoutEntry(key));
    if (source === undefined) continue;
    const compared = { reason, cases, definition: { ...definition, tags: [] } };
    const { reason: sourceReason, cases: sourceCases, definition: sourceDefinition } = source;
    expect(compared, key).toEqual({
      reason: sourceReason,
      cases: sourceCases,
      definition: { ...sourceDefinition, tags: [] },
    });
  }
});
