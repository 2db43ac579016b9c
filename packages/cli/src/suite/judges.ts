import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import type { CommandContext } from '../context.js';
import { CliError } from '../errors.js';
import { createOfflineJudge } from '../offline/offline-judge.js';
import type { Judge } from './judge.js';
import { createServerJudge } from './server-judge.js';
import type { Suite } from './suite.js';

/** Judges of this process. Throws a `CliError` if a suite has no controls of its own. */
export function offlineJudges(
  suites: readonly Suite[],
  registry: EvaluatorRegistry,
): (suite: Suite) => Judge {
  const withoutControls = suites.filter(({ controls }) => controls === null);
  if (withoutControls.length > 0) {
    throw new CliError(
      withoutControls
        .map(({ file }) => `${file}:1:1: the suite has no controls, and there is no server to ask`)
        .join('\n'),
      'Give the suite controls, or ask a server: --judge server.',
    );
  }
  return ({ controls }) => {
    if (controls === null) throw new CliError('the suite has no controls');
    return createOfflineJudge(controls, registry);
  };
}

/** Judges of the server of the command. */
export async function serverJudges(
  context: Pick<CommandContext, 'connect'>,
  registry: EvaluatorRegistry,
): Promise<(suite: Suite) => Judge> {
  const { rest } = await context.connect();
  return ({ controls }) => createServerJudge(rest.send, controls, registry);
}
