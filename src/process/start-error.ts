/** A stack trace helps with programming errors; for a busy port or a wrong path it only hides the message. */
export function isOurMistake(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

/** The message of an error and of its causes. */
export function explanation(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const message = error.message || (error as NodeJS.ErrnoException).code || error.name;
  return error.cause === undefined ? message : `${message} (${explanation(error.cause)})`;
}

/** Drivers also throw plain objects and use them as causes. */
function textOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  const { originalMessage, message, kind } = thrown as Record<string, unknown>;
  const text = [originalMessage, message, kind].find((each) => typeof each === 'string');
  return text === undefined ? JSON.stringify(thrown) : String(text);
}
