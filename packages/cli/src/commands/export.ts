import { isObject, type JsonObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { inOrder } from '../files/canonical-order.js';
import { indented } from '../output.js';

const KINDS = ['Control', 'Template', 'Limit', 'Approval', 'Policy', 'Pack', 'AgentLinks'] as const;

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement export', does: 'Print everything as documents' },
    { line: 'control-enforcement export --kind Policy --output json', does: 'Print the policies as JSON' },
  ],
  options: {
    owner: { type: 'string', describe: 'Only what this owner has applied' },
    kind: { type: 'string', array: true, choices: KINDS, describe: 'Only documents of these kinds' },
  },
  async run(context, { owner, kind }) {
    const { rest } = await context.connect();
    const body: JsonObject = {
      ...(owner === undefined ? {} : { owner }),
      ...(kind === undefined ? {} : { kinds: kind }),
    };
    const { yamlText } = await import('../files/yaml-text.js');
    let count = 0;
    for await (const { document = null } of rest.lines('/api/v1/configuration/export', body)) {
      if (!isObject(document)) continue;
      count += 1;
      const text =
        context.format === 'json' ? `${indented(inOrder(document), '')}\n` : yamlText(inOrder(document));
      await context.stdout.write(count > 1 && context.format !== 'json' ? `---\n${text}` : text);
    }
    return 0;
  },
});
