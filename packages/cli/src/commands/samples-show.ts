import { isObject, parseJson } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { indented, plain } from '../output.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement samples show 5f0c1c5e-0000-4000-8000-000000000000',
      does: 'Print the step of a decision',
      // There is none with this id.
      code: 1,
    },
  ],
  positionals: { decision: { type: 'string', demandOption: true, describe: 'Id of the decision' } },
  async run(context, { decision }) {
    const { rest } = await context.connect();
    const {
      sample = null,
      step_json,
      session_id,
      target,
    } = await rest.get(`/api/v1/samples/${encodeURIComponent(decision)}`);
    const step = typeof step_json === 'string' ? parseJson(step_json) : null;
    const { outcome, agent_name, stage, taken_at, masked_values } = isObject(sample) ? sample : {};
    const about = [
      `${outcome} for ${agent_name} at the stage ${stage}, ${taken_at}`,
      ...(typeof session_id === 'string' ? [`session ${session_id}`] : []),
      ...(typeof target === 'string' ? [`target ${target}`] : []),
      masked_values === 1 ? '1 value is masked' : `${masked_values} values are masked`,
    ];
    const text = plain(`${about.join('\n')}\n${indented(step, '')}\n`);
    await context.output({ sample, step, session_id: session_id ?? null, target: target ?? null }, text);
    return 0;
  },
});
