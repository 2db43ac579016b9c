/** What the scripts of all adapters have in common: the client, the tools, the people, and what they report. */
import { createClient } from '@control-enforcement/client';

const url = process.env.SERVICE_URL ?? '';
const agent = 'framework-bot-01';

export const client = createClient({ baseUrl: url, agent, apiKey: 'agent-key', timeoutMs: 300_000 });
/** A client whose service is away. */
export const away = createClient({ baseUrl: 'http://127.0.0.1:9', agent, timeoutMs: 200 });

/** Windows that time does not end, and whose overlap is longer than what the controls look for. */
export const model = { windows: { maxChars: 24, overlapChars: 40, maxDelayMs: 60_000 } };

/** The texts that the tool ran with. */
export const ran: string[] = [];

export async function sendMail({ text }: { text: string }): Promise<{ answer: string }> {
  ran.push(text);
  const rows: Readonly<Record<string, string>> = { rows: 'row SECRET-4711', key: 'the key sk-abcdef' };
  return { answer: rows[text] ?? `sent ${text}` };
}

export async function pay({ amount }: { amount: number }): Promise<{ answer: string }> {
  ran.push(`pay ${amount}`);
  return { answer: `paid ${amount}` };
}

/** What the model calls the tool with, by the name of the case. */
export const MAILS = {
  allowed: 'hello',
  denied: 'card 4111111111111111',
  steered: 'urgent mail',
  withheld: 'rows',
  redacted: 'key',
  changed: 'my password tulip',
};

/** What models say, by the name of the case, in the pieces in which they say it. */
export const ANSWERS = {
  streamed: [
    'Good ',
    'morning, ',
    'this is a text of several windows, ',
    'and nothing is wrong ',
    'with it.',
  ],
  denied: [
    'It is a long way to the secret, ',
    'but here: the launch ',
    'code ',
    '123',
    '456',
    ' is it, and more text.',
  ],
  redacted: ['The key that you asked for is sk-ab', 'cdefgh', ', and this is the end of the text.'],
};

/** A person decides about the only approval that waits. */
export async function decide(decision: 'approve' | 'deny'): Promise<void> {
  const headers = { 'x-api-key': 'ann-key', 'content-type': 'application/json' };
  const pending = await fetch(`${url}/api/v1/approvals?state=pending&limit=10`, { headers });
  const { approvals }: { approvals: { id: number; step_sha256: string }[] } = JSON.parse(
    await pending.text(),
  );
  const [approval, ...others] = approvals;
  if (approval === undefined || others.length > 0)
    throw new Error(`${approvals.length} approvals wait, not one`);
  const body = JSON.stringify({ decision, step_sha256: approval.step_sha256, comment: 'so said Ann' });
  const path = `${url}/api/v1/approvals/${approval.id}/decide`;
  const reply = await fetch(path, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(`not decided: ${reply.status} ${await reply.text()}`);
}

/** Reports the cases, then the ways by which something could pass unchecked, which run after them. */
export async function report(cases: object, unchecked: () => Promise<object>): Promise<void> {
  const before = [...ran];
  console.log(JSON.stringify({ ...cases, ran: before, unchecked: await unchecked() }));
  // A client that still tries to connect would keep the process alive.
  process.exit();
}
