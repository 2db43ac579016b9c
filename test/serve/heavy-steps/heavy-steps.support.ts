import type { TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** More than the smallest message that the thread takes. */
export const LARGE = 70_000;

/** Text without anything that controls look for. */
export const FILLER = 'lorem ipsum '.repeat(Math.ceil(LARGE / 12));

/** Sends large messages until the thread takes them: it starts with the first. */
export async function startedThread({ url, logLines }: TestService, agentName: string): Promise<void> {
  await fetch(`${url}/api/v1/evaluation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_name: agentName,
      stage: 'pre',
      step: { type: 'llm', name: 'answer', input: FILLER },
    }),
  });
  const isReady = () => logLines.some((line) => line.includes('the thread for large steps takes messages'));
  await until(isReady, (ready) => ready);
}
