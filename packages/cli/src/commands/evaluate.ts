import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { STEP_OPTIONS } from '../suite/step-options.js';

export const command = defineCommand({
  examples: [
    {
      line: `control-enforcement evaluate --controls controls --name send_email --input '{"text":"hello"}'`,
      does: 'Evaluate a step by the controls of files, without a server',
    },
  ],
  options: STEP_OPTIONS,
  async run(context, args) {
    const [{ askedStep }, { offlineEvaluators }, { decisionOf }] = await Promise.all([
      import('../suite/asked-step.js'),
      import('../offline/evaluators.js'),
      import('../suite/expectations.js'),
    ]);
    const { judge, question } = await askedStep(context, args, offlineEvaluators);
    const judged = await judge.judge(question);
    if ('needs' in judged) throw new CliError(`the step ${judged.needs}`, 'Give --controls FILE.');
    const { outcome, reason, matches, errors, modified } = judged;
    const line = (name: string, text: string | null): string => `${name}: ${text ?? ''}`.trimEnd();
    const colours = {
      allow: 'green',
      deny: 'red',
      steer: 'yellow',
      ask: 'yellow',
      modify: 'yellow',
    } as const;
    const lines = [
      context.paint(colours[outcome], outcome),
      ...(reason === null ? [] : [reason]),
      ...matches.map(({ name, decision, message }) => line(`  matched ${name} (${decision})`, message)),
      ...errors.map(({ name, decision, message }) => line(`  failed ${name} (${decision})`, message)),
    ];
    const value = {
      outcome,
      reason,
      decision: decisionOf(judged),
      matches: matches.map((one) => ({ ...one })),
      errors: errors.map((one) => ({ ...one })),
      modified: modified === null ? null : { ...modified },
    };
    await context.output(value, `${lines.join('\n')}\n`);
    return 0;
  },
});
