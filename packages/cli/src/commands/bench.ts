import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { STEP_OPTIONS } from '../suite/step-options.js';

export const command = defineCommand({
  examples: [
    {
      line: `control-enforcement bench --controls controls --name send_email --input '{"text":"hello"}' --seconds 0.2`,
      does: 'Measure evaluations of a step by the controls of files, in this process',
    },
    { line: 'control-enforcement bench --suite controls --seconds 0.2', does: 'Measure the cases of suites' },
  ],
  options: {
    ...STEP_OPTIONS,
    suite: {
      type: 'string',
      array: true,
      describe: 'Suites whose cases are evaluated in turn, in this process',
    },
    seconds: { type: 'string', default: '5', describe: 'How long to measure' },
    rate: {
      type: 'string',
      describe: 'Evaluations a second; without it, each begins when one before it has ended',
    },
    concurrency: { type: 'string', default: '1', describe: 'Evaluations of a server under way at a time' },
  },
  async run(context, { suite, seconds, rate, concurrency, ...args }) {
    const [{ askedStep }, { loadSuites }, { offlineJudges }, { measure }, { offlineEvaluators }] =
      await Promise.all([
        import('../suite/asked-step.js'),
        import('../suite/load-suites.js'),
        import('../suite/judges.js'),
        import('../suite/measure.js'),
        import('../offline/evaluators.js'),
      ]);
    const registry = offlineEvaluators;
    const plan = {
      seconds: numberOf('seconds', seconds, 0.01, 3_600),
      rate: rate === undefined ? null : numberOf('rate', rate, 0.1, 1_000_000),
      concurrency: numberOf('concurrency', concurrency, 1, 256),
      signal: context.signal,
    };
    const works: (() => Promise<unknown>)[] = [];
    let isOffline = true;
    if (suite === undefined) {
      const { judge, question } = await askedStep(context, args, registry);
      isOffline = judge.kind === 'offline';
      works.push(() => judge.judge(question));
    } else {
      const suites = await loadSuites(context, suite, registry);
      const judgeOf = offlineJudges(suites, registry);
      for (const one of suites) {
        const judge = judgeOf(one);
        for (const { question, skip } of one.cases)
          if (skip === null) works.push(() => judge.judge(question));
      }
    }
    // One process evaluates one step after the other, with the clock of that step.
    const measured = await measure(works, { ...plan, concurrency: isOffline ? 1 : plan.concurrency });
    if (measured.count === 0)
      throw new CliError('nothing was evaluated in this time', 'Give more --seconds.');
    const { count, perSecond, p50Us, p99Us, late } = measured;
    const ms = (us: number): string => `${(us / 1_000).toFixed(3)} ms`;
    await context.output(
      { evaluations: count, per_second: perSecond, p50_us: p50Us, p99_us: p99Us, late },
      `${count} evaluations, ${perSecond.toFixed(0)} a second; p50 ${ms(p50Us)}, p99 ${ms(p99Us)}${
        plan.rate === null ? '' : `; ${late} began late`
      }\n`,
    );
    return 0;
  },
});

function numberOf(name: string, given: string, least: number, most: number): number {
  const value = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new CliError(`--${name}: must be a number from ${least} to ${most}`);
}
