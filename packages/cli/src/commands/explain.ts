import type { JsonValue } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { STEP_OPTIONS } from '../suite/step-options.js';

export const command = defineCommand({
  examples: [
    {
      line: `control-enforcement explain --controls controls --name send_email --input '{"text":"hello"}'`,
      does: 'Show how each condition was decided; secrets in values are masked',
    },
  ],
  options: {
    ...STEP_OPTIONS,
    all: { type: 'boolean', default: false, describe: 'Show controls that do not concern the step, too' },
  },
  async run(context, { all, ...args }) {
    const [{ askedStep }, { offlineEvaluators }, { explanationLines }] = await Promise.all([
      import('../suite/asked-step.js'),
      import('../offline/evaluators.js'),
      import('../suite/explanation-text.js'),
    ]);
    const { judge, question } = await askedStep(context, args, offlineEvaluators);
    const judged = await judge.judge(question);
    if ('needs' in judged) throw new CliError(`the step ${judged.needs}`, 'Give --controls FILE.');
    const explanations = await judge.explain(question);
    const shown = explanations.filter(({ applies }) => all || applies);
    const options = { paint: context.paint, width: context.stdout.columns ?? 120 };
    const { outcome, reason } = judged;
    const lines = [
      `${context.paint('bold', outcome)}${reason === null ? '' : `: ${reason}`}`,
      ...shown.flatMap((one) => ['', ...explanationLines(one, options)]),
    ];
    const hidden = explanations.length - shown.length;
    if (hidden > 0) lines.push('', `${hidden} more do not concern the step; --all shows why`);
    // Members of explanations are those of the message: plain JSON.
    const value = { outcome, reason, controls: explanations as unknown as JsonValue };
    await context.output(value, `${lines.join('\n')}\n`);
    return 0;
  },
});
