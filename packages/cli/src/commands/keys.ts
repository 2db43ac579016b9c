import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { cellOf, durationMs, LISTINGS, listed, objectIn, printItems } from '../listing.js';

export const listKeys = defineCommand({
  examples: [{ line: 'control-enforcement keys list', does: 'List the keys of the namespace' }],
  options: { ended: { type: 'boolean', default: false, describe: 'Also expired and revoked ones' } },
  async run(context, { ended }) {
    const { rest } = await context.connect();
    const keys = await listed(rest, LISTINGS.keys, { include_ended: ended }, 10_000);
    await printItems(context, keys, LISTINGS.keys.columns);
    return 0;
  },
});

export const createKey = defineCommand({
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

export const rotateKey = defineCommand({
  examples: [{ line: 'control-enforcement keys rotate 1 --overlap 1h', does: 'Give a key a new secret' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the key' } },
  options: { overlap: { type: 'string', describe: 'How long the old secret stays valid, for example 1h' } },
  async run(context, { id, overlap }) {
    const { rest } = await context.connect();
    const seconds = overlap === undefined ? null : durationMs(overlap, 'overlap') / 1_000;
    const reply = await rest.send('POST', `/api/v1/keys/${id}/rotate`, { overlap_seconds: seconds });
    await context.output(reply, `${cellOf(reply.secret)}\n`);
    await context.warn('the secret is shown only now; keep it where secrets are kept');
    return 0;
  },
});

export const revokeKey = defineCommand({
  examples: [{ line: 'control-enforcement keys revoke 1 --yes', does: 'Withdraw a key at once' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the key' } },
  options: { yes: { type: 'boolean', default: false, describe: 'Revoke without asking' } },
  async run(context, { id, yes }) {
    const { rest } = await context.connect();
    if (!yes && (await context.confirm(`Revoke key ${id}? Its callers are refused at once.`)) !== true) {
      throw new CliError('the key was not revoked', 'Give --yes to revoke it without a question.');
    }
    const reply = await rest.send('DELETE', `/api/v1/keys/${id}`);
    await printItems(context, [objectIn(reply, 'key')], LISTINGS.keys.columns);
    return 0;
  },
});
