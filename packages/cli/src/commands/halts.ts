import { defineCommand } from '../command.js';
import { durationMs, LISTINGS, listed, objectIn, printItems } from '../listing.js';

export const listHalts = defineCommand({
  examples: [{ line: 'control-enforcement halt list', does: 'List the halts in force' }],
  options: {
    state: { type: 'string', default: 'active', describe: 'active, lifted, expired, or all' },
    limit: { type: 'number', default: 100, describe: 'Most that are listed' },
  },
  async run(context, { state, limit }) {
    const { rest } = await context.connect();
    const query = { state: state === 'all' ? undefined : state };
    await printItems(context, await listed(rest, LISTINGS.halts, query, limit), LISTINGS.halts.columns);
    return 0;
  },
});

const SCOPES = ['step_name', 'session', 'agent', 'namespace', 'installation'] as const;

export const setHalt = defineCommand({
  examples: [
    {
      line: 'control-enforcement halt set agent --agent billing-bot-01 --reason "wrong customers" --for 2h',
      does: 'Deny all steps of an agent',
    },
  ],
  positionals: { scope: { choices: SCOPES, demandOption: true, describe: 'What is halted' } },
  options: {
    reason: { type: 'string', demandOption: true, describe: 'Why; agents are told' },
    agent: { type: 'string', describe: 'For agent and session: the agent' },
    session: { type: 'string', describe: 'For session: its id' },
    step: { type: 'string', describe: 'For step_name: the name' },
    for: { type: 'string', describe: 'How long, for example 2h. Until it is lifted if it is not given' },
  },
  async run(context, { scope, reason, agent, session, step, for: duration }) {
    const { rest } = await context.connect();
    const body = {
      scope,
      reason,
      agent_name: agent ?? null,
      session_id: session ?? null,
      step_name: step ?? null,
      expires_at:
        duration === undefined ? null : new Date(Date.now() + durationMs(duration, 'for')).toISOString(),
    };
    await printItems(
      context,
      [objectIn(await rest.send('POST', '/api/v1/halts', body), 'halt')],
      LISTINGS.halts.columns,
    );
    return 0;
  },
});

export const liftHalt = defineCommand({
  examples: [{ line: 'control-enforcement halt lift 1 --reason mended', does: 'End a halt' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the halt' } },
  options: { reason: { type: 'string', describe: 'Why' } },
  async run(context, { id, reason }) {
    const { rest } = await context.connect();
    const body = reason === undefined ? {} : { reason };
    const reply = await rest.send('POST', `/api/v1/halts/${id}/lift`, body);
    await printItems(context, [objectIn(reply, 'halt')], LISTINGS.halts.columns);
    return 0;
  },
});
