/** The tool of all frameworks, as the README of the client shows it, and what a run of it reports. */
import { createClient } from '@control-enforcement/client';

const { NEWCOMER_URL: baseUrl, SERVICE_API_KEY: apiKey } = process.env;
export const client = createClient({ baseUrl, agent: 'billing-bot-01', apiKey, timeoutMs: 300_000 });
/** What the application and the model said before: it is no part of any step. */
export const CONVERSATION = 'CONVERSATION-4711';
export const ran = [];

export const sendMail = async ({ text }) => {
  ran.push(text);
  if (text === 'break') throw new Error('row: SECRET-4711');
  return `sent ${text}`;
};

export async function* streamMail({ text }) {
  yield text;
}

/**
 * Runs `call` for each text, and reports what the framework gives the model, or its caller; then for a refused text with
 * `onRefused`, which makes the result of the tool.
 */
export async function report(call, onRefused = (error) => `told: ${error.message}`) {
  const seen = {};
  for (const text of ['hello', 'card 4111111111111111', 'urgent mail', 'break']) {
    try {
      seen[text] = await call(text);
    } catch (error) {
      seen[text] = `${error.name}: ${error.message}`;
    }
  }
  const answered = await call('card 4111111111111111', { onRefused });
  let stream;
  try {
    client.guard(streamMail, { step: 'send_mail' });
  } catch (error) {
    stream = error.message;
  }
  client.close();
  console.log(JSON.stringify({ seen, ran, answered, stream }));
}
