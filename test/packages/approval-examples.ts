import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApprovalState } from '../../gen/proto/enforcement/v1/approval_pb.js';
import { startScriptedApprovals } from '../client/scripted-approvals.js';
import { until } from '../support/until.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
/** Pays twice, and prints what the model is told of each payment, and which payments were made. */
const COMMON = `
import { createClient } from '@control-enforcement/client';
const client = createClient({ baseUrl: process.env.SERVICE_URL, agent: 'billing-bot-01', timeoutMs: 300_000 });
const paid = [];
const pay = async ({ amount }) => {
  paid.push(amount);
  return 'paid ' + amount;
};
const told = [];
for (const amount of [1, 2]) told.push(await main(amount));
client.close();
console.log(JSON.stringify({ told, paid }));
`;
const SCRIPTS = {
  'approval-langgraph': `
import { AIMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { createGraph, runGraph } from './approval-langgraph/index.js';
async function main(amount) {
  const graph = createGraph(client, pay, new MemorySaver());
  const call = { type: 'tool_call', id: 'call-' + amount, name: 'pay', args: { amount, to: 'ann' } };
  const input = { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
  const config = { configurable: { thread_id: 'thread-' + amount } };
  const { messages } = await runGraph(client, graph, 'billing-bot-01', input, config);
  return messages.at(-1).content;
}`,
  'approval-openai-agents': `
import { setTracingDisabled, Usage } from '@openai/agents';
import { createAgent, runAgent } from './approval-openai-agents/index.js';
setTracingDisabled(true);
async function main(amount) {
  const requests = [];
  const model = {
    async getResponse(request) {
      requests.push(request);
      const args = JSON.stringify({ amount, to: 'ann' });
      const call = { type: 'function_call', callId: 'call-' + amount, name: 'pay', status: 'completed', arguments: args };
      const content = [{ type: 'output_text', text: 'done' }];
      const message = { type: 'message', role: 'assistant', status: 'completed', content };
      return { responseId: 'r', output: [requests.length === 1 ? call : message], usage: new Usage() };
    },
  };
  await runAgent(client, createAgent(client, pay, model), 'Pay Ann.');
  const { output } = requests.at(-1).input.find((item) => item.type === 'function_call_result');
  return typeof output === 'string' ? output : output.text;
}`,
};

/** Tests of the examples, in a folder in which their frameworks are installed with the versions of their package.json. */
export function approvalExamples(folder: () => string): void {
  describe('an agent framework with an interrupt of its own', () => {
    beforeAll(async () => {
      for (const [name, script] of Object.entries(SCRIPTS)) {
        await cp(path.join(EXAMPLES, name), path.join(folder(), name), { recursive: true });
        await writeFile(path.join(folder(), `${name}.mjs`), `${script}\n${COMMON}`);
      }
    });

    it.each(Object.keys(SCRIPTS))('waits for a person: %s', async (name) => {
      const service = await startScriptedApprovals();
      onTestFinished(() => service.stop());
      const env = { ...process.env, SERVICE_URL: service.url, OPENAI_API_KEY: 'none' };
      const running = promisify(execFile)(process.execPath, [`${name}.mjs`], { cwd: folder(), env });
      const approvals = (): number => [...service.approvals.values()].flat().length;
      const asked = (count: number) => Promise.race([running, until(approvals, (known) => known === count)]);
      await asked(1);
      service.end(1, ApprovalState.APPROVED);
      await asked(2);
      service.end(2, ApprovalState.DENIED, 'not to Ann');
      const { told, paid } = JSON.parse((await running).stdout) as { told: string[]; paid: number[] };
      expect(paid).toEqual([1]);
      expect(told).toEqual(['paid 1', expect.stringMatching(/approv/)]);
      // Each payment was asked about once, and is one call in all its evaluations.
      expect(approvals()).toBe(2);
      const ids = new Set(service.evaluations.map(({ stepId }) => stepId));
      expect([...ids]).toEqual(['call-1', 'call-2']);
    });
  });
}
