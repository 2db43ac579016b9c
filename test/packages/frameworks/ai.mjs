import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { CONVERSATION, client, report, sendMail } from './tools.mjs';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

await report(async (text, more) => {
  const model = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [
          { type: 'tool-call', toolCallId: 'call-1', toolName: 'sendMail', input: JSON.stringify({ text }) },
        ],
        finishReason: { unified: 'tool-calls' },
        usage,
        warnings: [],
      },
      { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop' }, usage, warnings: [] },
    ],
  });
  await generateText({
    model,
    tools: {
      sendMail: tool({
        description: 'Sends a mail.',
        inputSchema: z.object({ text: z.string() }),
        execute: client.guard(sendMail, { step: 'send_mail', ...more }),
      }),
    },
    stopWhen: isStepCount(2),
    prompt: CONVERSATION,
  });
  const [result] = model.doGenerateCalls[1].prompt.at(-1).content;
  return result.output.value;
});
