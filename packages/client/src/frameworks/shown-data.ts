import { StepDataError } from '../errors.js';

/** Whether two values are the same as JSON, in the order of their members. */
export function isSameData(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a model gave as arguments of a tool: data, or the text that it is, if it is no JSON. */
export function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Why messages do not get to a model that controls want to change in a way that they cannot be changed in. */
export function unchangeableMessages(): StepDataError {
  const message = 'The model was not called: its messages cannot be changed as controls demand.';
  return new StepDataError(message, 'model', 'pre');
}
