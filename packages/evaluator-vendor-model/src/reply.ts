import { z } from 'zod';
import { EndpointError } from './errors.js';

const replySchema = z.object({
  status: z.string().max(100).nullish(),
  score: z.number().nullish(),
  message: z.string().max(4_000).nullish(),
  trace_id: z.string().max(1_000).nullish(),
  execution_time_ms: z.number().nullish(),
  received_at: z.string().max(100).nullish(),
  response_at: z.string().max(100).nullish(),
});

/** What the model said; null when it answered with nothing. */
export type Reply = z.infer<typeof replySchema> | null;

/** Reads a reply. Throws an EndpointError when it is not what was agreed on. */
export function readReply(text: string): Reply {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('is no JSON');
  }
  if (value === null) return null;
  const read = replySchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw invalid(
      `is wrong${issue === undefined ? '' : ` at ${issue.path.join('.') || 'its top'}: ${issue.message}`}`,
    );
  }
  if (Object.keys(value as object).length === 0) return null;
  if (typeof read.data.status !== 'string' && typeof read.data.score !== 'number') {
    throw invalid('has neither status nor score');
  }
  return read.data;
}

function invalid(problem: string): EndpointError {
  return new EndpointError('InvalidReply', `the model's reply ${problem}`, { outOfOrder: true });
}
