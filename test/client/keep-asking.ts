import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Evaluation } from '../../packages/client/src/node.js';
import { asking } from './client-harness.js';

/** Asks again and again with so many at a time, each after a pause; `stop` tells what failed and what was answered wrongly. */
export function keepAsking(client: Client, concurrency: number, pauseMs = 0) {
  const answers: { readonly text: string; readonly evaluation: Evaluation }[] = [];
  const failures: unknown[] = [];
  let stopped = false;
  const ask = async (worker: number) => {
    for (let index = 0; !stopped; index += 1) {
      const text = index % 2 === 0 ? `bad ${worker}` : `good ${worker}`;
      try {
        answers.push({ text, evaluation: await client.evaluate(asking(text)) });
      } catch (error) {
        failures.push(error);
      }
      if (pauseMs > 0) await pause(pauseMs);
    }
  };
  const workers = Array.from({ length: concurrency }, (_, worker) => ask(worker));
  return {
    answers,
    async stop() {
      stopped = true;
      await Promise.all(workers);
      const wrong = answers.filter(
        ({ text, evaluation }) => !evaluation.evaluated || evaluation.isSafe !== text.startsWith('good'),
      );
      return { failures, wrong };
    },
  };
}
