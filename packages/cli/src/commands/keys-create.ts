import { defineCommand } from '../command.js';
import { cellOf, durationMs, objectIn } from '../listing.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement keys create ci --role editor --for 90d',
      does: 'Create a key and print it once',
    },
  ],
  positionals: { name: { type: 'string', demandOption: true, describe: 'Name of the key' } },
  options: {
    role: { type: 'string', describe: 'Role of the key, for example editor' },
    scope: { type: 'string', array: true, describe: 'Scopes instead of a role' },
    agent: { type: 'string', array: true, describe: 'Limit it to agents: names, or patterns with *' },
    owner: { type: 'string', describe: 'Who answers for it' },
    for: { type: 'string', describe: 'How long it is valid, for example 90d' },
  },
  async run(context, { name, role, scope, agent, owner, for: duration }) {
    const { rest } = await context.connect();
    const reply = await rest.send('POST', '/api/v1/keys', {
      name,
      role: role ?? null,
      owner: owner ?? null,
      ...(scope === undefined ? {} : { scopes: scope }),
      ...(agent === undefined ? {} : { agents: agent }),
      expires_at:
        duration === undefined ? null : new Date(Date.now() + durationMs(duration, 'for')).toISOString(),
    });
    objectIn(reply, 'key');
    await context.output(reply, `${cellOf(reply.secret)}\n`);
    await context.warn('the key is shown only now; keep it where secrets are kept');
    return 0;
  },
});
