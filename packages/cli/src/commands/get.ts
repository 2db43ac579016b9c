import { isObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { inOrder } from '../files/canonical-order.js';
import { objectIn } from '../listing.js';

/** Kinds of the documents that each word stands for. */
const DOCUMENTS: { readonly [what: string]: readonly string[] } = {
  control: ['Control', 'Template', 'Limit', 'Approval'],
  policy: ['Policy'],
  links: ['AgentLinks'],
  'installed-pack': ['Pack'],
};
const ROUTES: { readonly [what: string]: { readonly path: string; readonly member?: string } } = {
  agent: { path: '/api/v1/agents' },
  pack: { path: '/api/v1/packs' },
  approval: { path: '/api/v1/approvals', member: 'approval' },
  halt: { path: '/api/v1/halts', member: 'halt' },
  key: { path: '/api/v1/keys', member: 'key' },
};
const WORDS = [
  'control',
  'policy',
  'links',
  'installed-pack',
  'agent',
  'pack',
  'approval',
  'halt',
  'key',
] as const;

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement get control no-card-numbers', does: 'Print a control as a document' },
  ],
  positionals: {
    what: { choices: WORDS, demandOption: true, describe: 'What it is' },
    name: {
      type: 'string',
      demandOption: true,
      describe: 'Its name; the id of an approval, a halt or a key',
    },
  },
  async run(context, { what, name }) {
    const { rest } = await context.connect();
    const route = ROUTES[what];
    const { yamlText } = await import('../files/yaml-text.js');
    if (route !== undefined) {
      const reply = await rest.get(`${route.path}/${encodeURIComponent(name)}`);
      const value = route.member === undefined ? reply : objectIn(reply, route.member);
      await context.output(value, yamlText(value));
      return 0;
    }
    const kinds = [...(DOCUMENTS[what] ?? [])];
    for await (const { document = null } of rest.lines('/api/v1/configuration/export', { kinds })) {
      if (!isObject(document) || document.name !== name) continue;
      const value = inOrder(document);
      await context.output(value, yamlText(value));
      return 0;
    }
    throw new CliError(`there is no ${what} named ${name}`, 'control-enforcement list tells the names.');
  },
});
