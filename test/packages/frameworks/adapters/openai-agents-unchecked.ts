/** Ways by which something could pass the OpenAI Agents SDK unchecked. */
import { createEnforcement } from '@control-enforcement/openai-agents';
import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  applyPatchTool,
  computerTool,
  getAllMcpTools,
  type MCPServer,
  RunContext,
  Runner,
  type Shell,
  shellTool,
  type Tool,
  tool,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { z } from 'zod';
import { client, decide, model, pay, ran } from './scenario.js';

const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });
const runner = new Runner();
const agentOf = (scripted: ScriptedModel, tools: Tool[]) =>
  new Agent({ name: 'mailer', model: scripted, tools });

/** Runs an agent whose model gives one item, and returns what the model sees next. */
async function after(item: AgentOutputItem, ...tools: Tool[]): Promise<string> {
  const scripted = new ScriptedModel([[item], [assistantMessage('done')]]);
  await runner.run(agentOf(scripted, tools), 'go');
  const { input } = scripted.calls[1]?.request ?? { input: 'not called again' };
  return JSON.stringify(typeof input === 'string' ? input : input.at(-1));
}

const shell: Shell = {
  async run({ commands }) {
    const [command = ''] = commands;
    ran.push(command);
    const outcome = { type: 'exit' as const, exitCode: 0 };
    return {
      output: [{ stdout: command === 'rows' ? 'row SECRET-4711' : `did ${command}`, stderr: '', outcome }],
    };
  },
};
const shellCall = (command: string, callId: string): AgentOutputItem => ({
  ...{ type: 'shell_call', callId, status: 'completed', action: { commands: [command] } },
});

const edited = async ({ path }: { path: string }) => ({ output: `edited ${path}` });
const editor = applyPatchTool({ editor: { createFile: edited, updateFile: edited, deleteFile: edited } });
const patchCall = (diff: string, callId: string): AgentOutputItem => ({
  type: 'apply_patch_call',
  callId,
  status: 'completed',
  operation: { type: 'update_file', path: 'cards.txt', diff },
});

/** A command that a person must approve. */
async function askedShell(): Promise<unknown> {
  const scripted = new ScriptedModel([[shellCall('pay 23', 'shell-23')], [assistantMessage('done')]]);
  const agent = agentOf(scripted, [enforcement.tool(shellTool({ name: 'pay', shell }))]);
  const first = await runner.run(agent, 'pay');
  const before = [first.interruptions.length, ran.filter((one) => one === 'pay 23').length];
  await decide('approve');
  const left = await enforcement.decide(first);
  await runner.run(agent, first.state);
  return [...before, left.length, ran.filter((one) => one === 'pay 23').length];
}

/** The approval that the application asks for itself is not the service's to give. */
async function ownApproval(): Promise<unknown> {
  const [name, parameters] = ['own_pay', z.object({ amount: z.number() })];
  const made = tool({ name, description: 'Pays.', parameters, needsApproval: true, execute: pay });
  const scripted = new ScriptedModel([[functionCall(name, { amount: 1 }, { callId: 'own' })]]);
  const run = await runner.run(agentOf(scripted, [enforcement.tool(made)]), 'pay');
  const left = await enforcement.decide(run);
  return left.map((item) => [item.name, run.state.getInterruptions().length]);
}

function computer(): string {
  const never = async () => {};
  const screen = { environment: 'browser' as const, dimensions: [1, 1] as [number, number] };
  const actions = { click: never, doubleClick: never, scroll: never, type: never, wait: never, move: never };
  const others = { keypress: never, drag: never, screenshot: async () => '' };
  try {
    enforcement.tool(computerTool({ computer: { ...screen, ...actions, ...others } }));
    return 'taken';
  } catch (error) {
    return String(error);
  }
}

/** Tools of MCP servers, which are guarded as function tools. */
async function mcpTools(): Promise<string> {
  const server: MCPServer = {
    ...{ name: 'mailer', cacheToolsList: false },
    ...{ connect: async () => {}, close: async () => {}, invalidateToolsCache: async () => {} },
    async listTools() {
      const inputSchema = {
        type: 'object' as const,
        properties: {},
        required: [],
        additionalProperties: true,
      };
      return [{ name: 'send_mail', inputSchema }];
    },
    async callTool(name) {
      ran.push(name);
      return [{ type: 'text', text: 'sent' }];
    },
  };
  const agent = new Agent({ name: 'mailer' });
  const tools = await getAllMcpTools({ mcpServers: [server], runContext: new RunContext({}), agent });
  const item = functionCall('send_mail', { text: 'card 4111111111111111' }, { callId: 'mcp-1' });
  return after(item, ...tools.map((one) => enforcement.tool(one)));
}

/** What the model answers to items of its history, or to its own item. */
async function answer(items: AgentInputItem[], output: AgentOutputItem = assistantMessage('read')) {
  const scripted = new ScriptedModel([[output], [assistantMessage('done')]]);
  const guarded = new Agent({
    name: 'reader',
    model: enforcement.model(scripted),
    tools: [shellTool({ shell })],
  });
  return (await runner.run(guarded, items)).finalOutput;
}

const outcome = { type: 'exit' as const, exitCode: 0 };
const file = `data:text/plain;base64,${Buffer.from('FORBIDDEN').toString('base64')}`;

export async function unchecked(): Promise<object> {
  const before = ran.length;
  const guardedShell = enforcement.tool(shellTool({ shell }));
  const guardedEditor = enforcement.tool(editor);
  return {
    shell: await after(shellCall('list', 'shell-1'), guardedShell),
    shellDenied: await after(shellCall('mail 4111111111111111', 'shell-2'), guardedShell),
    shellWithheld: await after(shellCall('rows', 'shell-3'), guardedShell),
    askedShell: await askedShell(),
    editor: await after(patchCall('+ none', 'patch-1'), guardedEditor),
    editorDenied: await after(patchCall('+ 4111111111111111', 'patch-2'), guardedEditor),
    computer: computer(),
    ownApproval: await ownApproval(),
    mcpTools: await mcpTools(),
    history: await answer([
      shellCall('list', 'shell-4'),
      {
        type: 'shell_call_output',
        callId: 'shell-4',
        output: [{ stdout: 'FORBIDDEN', stderr: '', outcome }],
      },
    ]),
    file: await answer([{ role: 'user', content: [{ type: 'input_file', file }] }]),
    answeredShell: await answer(
      [{ role: 'user', content: 'go' }],
      shellCall('launch code 123456', 'shell-5'),
    ),
    commands: ran.slice(before).filter((one) => /list|4111|rows|launch|send_mail/.test(one)),
  };
}
