import { defineCommand } from '../command.js';
import { durationMs, LISTINGS, objectIn, printItems } from '../listing.js';

const SCOPES = ['step_name', 'session', 'agent', 'namespace', 'installation'] as const;

export const command = defineCommand({
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
