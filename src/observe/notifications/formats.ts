import { type JsonObject, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { Message } from './destination.js';

/** Longest text of a block, as Slack allows it, in characters. */
const MAX_BLOCK = 3_000;
/** Longest subject, in characters. */
const MAX_SUBJECT = 200;

/** The body for an incoming webhook of Slack. */
export function slackBody({ kind, summary, payload }: Message): string {
  const { timestamp, data } = parsed(payload);
  const url = typeof data.url === 'string' ? data.url : null;
  const link = url === null ? '' : `\n<${escaped(url)}|Open>`;
  const text = escaped(summary);
  return JSON.stringify({
    text,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `${text.slice(0, MAX_BLOCK - link.length)}${link}` } },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: `${escaped(kind)} · ${escaped(String(timestamp))}` }],
      },
    ],
  });
}

/** Subject and text of an e-mail. */
export function emailOf({ kind, summary, payload }: Message): {
  readonly subject: string;
  readonly text: string;
} {
  const { timestamp, data } = parsed(payload);
  const url = typeof data.url === 'string' ? [data.url, ''] : [];
  const lines = [summary, '', ...url, `${kind}, ${String(timestamp)}`, JSON.stringify(data, null, 2), ''];
  return { subject: summary.slice(0, MAX_SUBJECT), text: lines.join('\n') };
}

function parsed(payload: string): { readonly timestamp: unknown; readonly data: JsonObject } {
  const { timestamp, data } = parseStoredJson(payload) as JsonObject;
  return { timestamp, data: data as JsonObject };
}

/** The three characters with a meaning in texts of Slack. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
